package authentication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/webhook/internal/payload"
)

// maxRequestSize bounds the body of a request. Tokens have a few kilobytes.
const maxRequestSize = 1 << 20

var (
	errNoToken     = errors.New("the TokenReview holds no token")
	errUnencodable = errors.New("the response cannot be encoded: see the webhook's log")
)

// reviewKind is what reviews are taken for that do not say what they are. The
// versions v1 and v1beta1 have the same fields.
var reviewKind = authenticationv1.SchemeGroupVersion.WithKind("TokenReview")

// Webhook serves a Handler over HTTP. Its fields are not to be changed once requests arrive.
type Webhook struct {
	// Handler makes the decision. It is required.
	Handler Handler

	// WithContextFunc returns the context to call the handler with, made from
	// the request's own, for example with a header of the HTTP request. Nil means the request's own.
	WithContextFunc func(context.Context, *http.Request) context.Context
}

// Handle has the handler answer one request, and completes the answer so that it can be sent.
func (wh *Webhook) Handle(ctx context.Context, req Request) Response {
	response := wh.Handler.Handle(ctx, req)
	if err := response.Complete(req); err != nil {
		logger(&req).Error(err, "Response cannot be encoded")
		return Errored(errUnencodable)
	}
	return response
}

// ServeHTTP implements http.Handler. Whatever is asked, the answer is a
// TokenReview with HTTP status 200: the API server reads nothing from others.
func (wh *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req Request
	kind, err := payload.ReadReview(r, maxRequestSize, &req.TokenReview, reviewKind, "v1beta1")
	if err != nil {
		refuse(w, err)
		return
	}
	logger := logger(&req)
	logger.V(5).Info("Request received")
	if req.Spec.Token == "" {
		logger.Error(errNoToken, "Request has no token")
		answer(w, metav1.TypeMeta{}, Errored(errNoToken))
		return
	}

	ctx, cancel := payload.WithDeadline(r.Context(), r)
	defer cancel()
	if wh.WithContextFunc != nil {
		ctx = wh.WithContextFunc(ctx, r)
	}
	answer(w, metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}, wh.handle(ctx, logger, req))
}

// handle is Handle, with a panic for an answer like any other.
func (wh *Webhook) handle(ctx context.Context, logger logr.Logger, req Request) (response Response) {
	defer func() {
		if p := recover(); p != nil {
			logger.Error(nil, "Observed a panic", "panic", fmt.Sprint(p), "stacktrace", string(debug.Stack()))
			response = Errored(errors.New("internal error: the handler panicked, see the webhook's log"))
			response.UID = req.UID
		}
	}()
	return wh.Handle(ctx, req)
}

// refuse answers what was no question.
func refuse(w http.ResponseWriter, err error) {
	logger(nil).Error(err, payload.Complaint(err))
	// The kind stays empty: which one the asker would understand is not known.
	answer(w, metav1.TypeMeta{}, Errored(err))
}

func answer(w http.ResponseWriter, kind metav1.TypeMeta, response Response) {
	logger := logger(nil)
	response.TypeMeta = kind
	// A handler may have answered with the request it was given.
	response.Spec = authenticationv1.TokenReviewSpec{}
	encoded, err := json.Marshal(response.TokenReview)
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
	logger.V(5).Info("Response sent", "requestID", response.UID, "authenticated", response.Status.Authenticated)
}

// logger names the request, if there is one, without its token.
func logger(req *Request) logr.Logger {
	base := log.Log.WithName("authentication")
	if req == nil {
		return base
	}
	return base.WithValues(
		"object", klog.KRef(req.Namespace, req.Name),
		"namespace", req.Namespace, "name", req.Name,
		"user", req.Status.User.Username, "requestID", req.UID,
	)
}
