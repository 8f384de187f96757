package admission

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Warnings are shown to who made the request, whether or not it is allowed.
type Warnings []string

// Validator judges what is done to objects of type T. An error denies the
// operation: an API error, such as those of k8s.io/apimachinery/pkg/api/errors, with its own status, any other as
// forbidden. The request is in the context, for RequestFromContext. A Validator is called by several goroutines at once.
type Validator[T runtime.Object] interface {
	// ValidateCreate judges the creation of obj.
	ValidateCreate(ctx context.Context, obj T) (warnings Warnings, err error)

	// ValidateUpdate judges the change of oldObj to newObj.
	ValidateUpdate(ctx context.Context, oldObj, newObj T) (warnings Warnings, err error)

	// ValidateDelete judges the deletion of obj.
	ValidateDelete(ctx context.Context, obj T) (warnings Warnings, err error)
}

// CustomValidator is a Validator that takes objects of any type.
//
// Deprecated: Validator says which type.
type CustomValidator = Validator[runtime.Object]

// WithValidator returns a webhook that validates objects of type T with a
// Validator. Other operations than those it judges are allowed.
func WithValidator[T runtime.Object](scheme *runtime.Scheme, validator Validator[T]) *Webhook {
	return &Webhook{Handler: &validating[T]{decoder: NewDecoder(scheme), newObject: makerOf[T](scheme), validator: validator}}
}

// WithCustomValidator returns a webhook that validates objects of the type of obj.
//
// Deprecated: use WithValidator.
func WithCustomValidator(scheme *runtime.Scheme, obj runtime.Object, validator CustomValidator) *Webhook {
	return &Webhook{Handler: &validating[runtime.Object]{decoder: NewDecoder(scheme), newObject: likeness(obj), validator: validator}}
}

type validating[T runtime.Object] struct {
	decoder   Decoder
	newObject maker[T]
	validator Validator[T]
}

// Handle implements Handler.
func (h *validating[T]) Handle(ctx context.Context, req Request) Response {
	if h.validator == nil {
		panic("the webhook's validator is nil")
	}
	ctx = NewContextWithRequest(ctx, req)
	var (
		obj, old T
		warnings Warnings
		err      error
	)
	switch req.Operation {
	case admissionv1.Connect:
		// There is nothing to judge: the object is the connection's options.
	case admissionv1.Create:
		if obj, err = h.decode(req, req.Object); err != nil {
			return Errored(http.StatusBadRequest, err)
		}
		warnings, err = h.validator.ValidateCreate(ctx, obj)
	case admissionv1.Update:
		if obj, err = h.decode(req, req.Object); err != nil {
			return Errored(http.StatusBadRequest, err)
		}
		if old, err = h.decode(req, req.OldObject); err != nil {
			return Errored(http.StatusBadRequest, err)
		}
		warnings, err = h.validator.ValidateUpdate(ctx, old, obj)
	case admissionv1.Delete:
		// Only the old object is sent: https://github.com/kubernetes/kubernetes/pull/76346
		if old, err = h.decode(req, req.OldObject); err != nil {
			return Errored(http.StatusBadRequest, err)
		}
		warnings, err = h.validator.ValidateDelete(ctx, old)
	default:
		return Errored(http.StatusBadRequest, fmt.Errorf("there is no validation for operation %q", req.Operation))
	}
	if err != nil {
		return refused(err).WithWarnings(warnings...)
	}
	return Allowed("").WithWarnings(warnings...)
}

func (h *validating[T]) decode(req Request, raw runtime.RawExtension) (T, error) {
	obj, err := h.newObject(req)
	if err != nil {
		return obj, err
	}
	return obj, h.decoder.DecodeRaw(raw, obj)
}
