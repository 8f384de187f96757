package conversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/webhook/conversion/metrics"
	"github.com/operon-dev/operon/pkg/webhook/internal/payload"
)

// maxRequestSize bounds the body of a request. The API server sends all
// objects of a list at once that are to be converted, which may be a great many.
const maxRequestSize = 256 << 20

var (
	errNoQuestion = errors.New("the ConversionReview holds no request")
	errPanic      = errors.New("internal error: the conversion panicked, see the webhook's log")
)

// reviewKind is what reviews are taken for that do not say what they are. The
// versions v1 and v1beta1 have the same fields.
var reviewKind = apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview")

// NewWebhookHandler returns the handler that converts the types of a scheme:
// by the converter that the registry has for a kind or, where it has none, by what the Go types implement.
func NewWebhookHandler(scheme *runtime.Scheme, registry Registry) http.Handler {
	return &webhook{scheme: scheme, decoder: NewDecoder(scheme), registry: registry, logger: log.Log.WithName("conversion-webhook")}
}

type webhook struct {
	scheme   *runtime.Scheme
	decoder  *Decoder
	registry Registry
	logger   logr.Logger
}

// ServeHTTP implements http.Handler.
func (wh *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review := &apiextensionsv1.ConversionReview{}
	kind, err := readReview(r, review)
	if err != nil {
		wh.logger.Error(err, "Request cannot be read")
		http.Error(w, err.Error(), codeOf(err))
		return
	}
	ctx, cancel := payload.WithDeadline(r.Context(), r)
	defer cancel()
	objects, err := wh.convert(ctx, review.Request)
	result := metav1.Status{Status: metav1.StatusSuccess}
	if err != nil {
		wh.logger.Error(err, "Objects cannot be converted", "request", review.Request.UID)
		result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
	}
	encoded, err := json.Marshal(apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind},
		Response: &apiextensionsv1.ConversionResponse{UID: review.Request.UID, ConvertedObjects: objects, Result: result},
	})
	if err != nil {
		wh.logger.Error(err, "Response cannot be encoded", "request", review.Request.UID)
		http.Error(w, "the response cannot be encoded: see the webhook's log", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(append(encoded, '\n')); err != nil {
		wh.logger.Error(err, "Response cannot be sent", "request", review.Request.UID)
	}
}

// codeOf returns the HTTP status for what is no request for a conversion.
func codeOf(err error) int {
	var tooLarge payload.TooLargeError
	var contentType payload.ContentTypeError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &contentType):
		return http.StatusUnsupportedMediaType
	}
	return http.StatusBadRequest
}

func readReview(r *http.Request, review *apiextensionsv1.ConversionReview) (schema.GroupVersionKind, error) {
	body, err := payload.Read(r, maxRequestSize)
	if err == nil && r.Header.Get("Content-Type") != "" {
		// What says nothing of itself is tried.
		err = payload.CheckContentType(r)
	}
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	kind, err := payload.Decode(body, review, reviewKind, "v1beta1")
	if err == nil && review.Request == nil {
		err = errNoQuestion
	}
	return kind, err
}

// convert converts all objects of a request, or none.
func (wh *webhook) convert(ctx context.Context, req *apiextensionsv1.ConversionRequest) (converted []runtime.RawExtension, err error) {
	defer func() {
		if p := recover(); p != nil {
			metrics.WebhookPanics.WithLabelValues().Inc()
			wh.logger.Error(nil, "Observed a panic", "panic", fmt.Sprint(p), "stacktrace", string(debug.Stack()), "request", req.UID)
			converted, err = nil, errPanic
		}
	}()
	for _, raw := range req.Objects {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("the API server no longer waits: %w", err)
		}
		object, err := wh.convertRaw(ctx, raw.Raw, req.DesiredAPIVersion)
		if err != nil {
			return nil, err
		}
		converted = append(converted, runtime.RawExtension{Object: object})
	}
	return converted, nil
}

func (wh *webhook) convertRaw(ctx context.Context, raw []byte, desired string) (runtime.Object, error) {
	src, kind, err := wh.decoder.Decode(raw)
	if err != nil {
		return nil, err
	}
	target := schema.FromAPIVersionAndKind(desired, kind.Kind)
	dst, err := wh.scheme.New(target)
	if err != nil {
		return nil, err
	}
	dst.GetObjectKind().SetGroupVersionKind(target)
	if err := wh.convertObject(ctx, *kind, target, src, dst); err != nil {
		return nil, err
	}
	// A conversion that copies whole objects copies the version along.
	dst.GetObjectKind().SetGroupVersionKind(target)
	return dst, nil
}

func (wh *webhook) convertObject(ctx context.Context, from, to schema.GroupVersionKind, src, dst runtime.Object) error {
	switch {
	case from == to:
		return fmt.Errorf("nothing to convert: %T is of the wanted version already", src)
	case from.GroupKind() != to.GroupKind():
		return fmt.Errorf("%s is not convertible to %s, another kind", from, to)
	}
	if converter, ok := wh.registry.GetConverter(from.GroupKind()); ok {
		return converter.ConvertObject(ctx, src, dst)
	}
	return convertByTypes(wh.scheme, from.GroupKind(), src, dst)
}
