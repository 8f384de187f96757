package admission

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/webhook/internal/payload"
)

// maxRequestSize bounds the body of a request: the API server takes objects
// of up to 3 MiB, a request may hold an old and a new one, and the rest is for the envelope.
const maxRequestSize = 7 << 20

var (
	errUnencodable = errors.New("the response cannot be encoded: see the webhook's log")
	errNoQuestion  = errors.New("the AdmissionReview holds no request")
)

// reviewKind is what reviews are taken for that do not say what they are. The
// versions v1 and v1beta1 have the same fields.
var reviewKind = admissionv1.SchemeGroupVersion.WithKind("AdmissionReview")

// ServeHTTP implements http.Handler. Whatever is asked, the answer is an
// AdmissionReview with HTTP status 200: the API server reads nothing from others.
func (wh *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review, kind, err := readReview(r)
	if err != nil {
		wh.refuse(w, err)
		return
	}
	req := Request{AdmissionRequest: *review.Request}
	logger := wh.logger(&req)
	logger.V(5).Info("Request received")

	ctx, cancel := payload.WithDeadline(r.Context(), r)
	defer cancel()
	stopWatching := watchOverrun(ctx, logger)
	defer stopWatching()
	if wh.WithContextFunc != nil {
		ctx = wh.WithContextFunc(ctx, r)
	}
	wh.answer(w, metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}, wh.handle(ctx, logger, req))
}

// watchOverrun logs once when a handler is still at work after ctx has run out
// of time, until it is told to stop.
func watchOverrun(ctx context.Context, logger logr.Logger) (stop func()) {
	begin := time.Now()
	withdraw := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			logger.Error(ctx.Err(), "The handler takes longer than the API server waits for it", "after", time.Since(begin).String())
		}
	})
	return func() { withdraw() }
}

func readReview(r *http.Request) (*admissionv1.AdmissionReview, schema.GroupVersionKind, error) {
	review := &admissionv1.AdmissionReview{}
	kind, err := payload.ReadReview(r, maxRequestSize, review, reviewKind, "v1beta1")
	if err == nil && review.Request == nil {
		err = payload.UndecodableError{Err: errNoQuestion}
	}
	return review, kind, err
}

// refuse answers what was no question.
func (wh *Webhook) refuse(w http.ResponseWriter, err error) {
	wh.logger(nil).Error(err, payload.Complaint(err))
	code := int32(http.StatusBadRequest)
	if tooLarge := (payload.TooLargeError{}); errors.As(err, &tooLarge) {
		code = http.StatusRequestEntityTooLarge
	}
	// The kind stays empty: which one the asker would understand is not known.
	wh.answer(w, metav1.TypeMeta{}, Errored(code, err))
}

func (wh *Webhook) answer(w http.ResponseWriter, kind metav1.TypeMeta, response Response) {
	logger := wh.logger(nil)
	encoded, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: kind, Response: &response.AdmissionResponse})
	if err != nil {
		logger.Error(err, "Response cannot be encoded")
		http.Error(w, errUnencodable.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(append(encoded, '\n')); err != nil {
		logger.Error(err, "Response cannot be sent")
		return
	}
	if logger := logger.V(5); logger.Enabled() {
		values := []any{"requestID", response.UID, "allowed", response.Allowed}
		if result := response.Result; result != nil {
			values = append([]any{"code", result.Code, "reason", result.Reason, "message", result.Message}, values...)
		}
		logger.Info("Response sent", values...)
	}
}
