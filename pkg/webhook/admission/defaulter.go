package admission

import (
	"bytes"
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Defaulter fills in what was left open in objects of type T, or changes them
// otherwise. The request is in the context, for RequestFromContext. A Defaulter is called by several goroutines at once.
type Defaulter[T runtime.Object] interface {
	// Default changes obj. An error denies the operation, in the same way as a Validator's.
	Default(ctx context.Context, obj T) error
}

// CustomDefaulter is a Defaulter that takes objects of any type.
//
// Deprecated: Defaulter says which type.
type CustomDefaulter = Defaulter[runtime.Object]

// DefaulterOption changes how a webhook with a Defaulter works.
type DefaulterOption func(*defaulterOptions)

type defaulterOptions struct {
	removeUnknown bool
}

// DefaulterRemoveUnknownOrOmitableFields makes the patch remove whatever the
// Go type does not encode: the fields it does not know, and those that are empty where the type omits them.
// Without this option such fields stay as they were sent.
func DefaulterRemoveUnknownOrOmitableFields(o *defaulterOptions) {
	o.removeUnknown = true
}

// WithDefaulter returns a webhook that has objects of type T changed by a
// Defaulter. Deletions are allowed without a call, as nothing of a deleted object can be changed.
func WithDefaulter[T runtime.Object](scheme *runtime.Scheme, defaulter Defaulter[T], opts ...DefaulterOption) *Webhook {
	return withDefaulter(scheme, makerOf[T](scheme), defaulter, opts)
}

// WithCustomDefaulter returns a webhook that has objects of the type of obj changed.
func WithCustomDefaulter(scheme *runtime.Scheme, obj runtime.Object, defaulter CustomDefaulter, opts ...DefaulterOption) *Webhook {
	return withDefaulter(scheme, likeness(obj), defaulter, opts)
}

func withDefaulter[T runtime.Object](scheme *runtime.Scheme, newObject maker[T], defaulter Defaulter[T], opts []DefaulterOption) *Webhook {
	h := &defaulting[T]{decoder: NewDecoder(scheme), newObject: newObject, defaulter: defaulter}
	for _, opt := range opts {
		opt(&h.options)
	}
	return &Webhook{Handler: h}
}

type defaulting[T runtime.Object] struct {
	decoder   Decoder
	newObject maker[T]
	defaulter Defaulter[T]
	options   defaulterOptions
}

// Handle implements Handler.
func (h *defaulting[T]) Handle(ctx context.Context, req Request) Response {
	if h.defaulter == nil {
		panic("the webhook's defaulter is nil")
	}
	if req.Operation == admissionv1.Delete {
		return Response{AdmissionResponse: admissionv1.AdmissionResponse{
			Allowed: true,
			Result:  &metav1.Status{Code: http.StatusOK},
		}}
	}
	obj, err := h.newObject(req)
	if err == nil {
		err = h.decoder.Decode(req, obj)
	}
	if err != nil {
		return Errored(http.StatusBadRequest, err)
	}
	before, err := encode(obj)
	if err != nil {
		return Errored(http.StatusInternalServerError, err)
	}
	if err := h.defaulter.Default(NewContextWithRequest(ctx, req), obj); err != nil {
		return refused(err)
	}
	after, err := encode(obj)
	if err != nil {
		return Errored(http.StatusInternalServerError, err)
	}
	if !h.options.removeUnknown {
		if bytes.Equal(before, after) {
			return Allowed("")
		}
		original, current, err := carryOver(req.Object.Raw, before, after)
		if err != nil {
			return Errored(http.StatusInternalServerError, err)
		}
		return PatchResponseFromRaw(original, current)
	}
	return PatchResponseFromRaw(req.Object.Raw, after)
}
