package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MultiValidatingHandler makes one handler of several. They are asked one
// after the other; the first that does not allow the operation ends it with its own response.
// Otherwise the response is Allowed with the warnings of all.
func MultiValidatingHandler(handlers ...Handler) Handler {
	return multiValidating(handlers)
}

type multiValidating []Handler

// Handle implements Handler.
func (hs multiValidating) Handle(ctx context.Context, req Request) Response {
	var warnings []string
	for _, h := range hs {
		response := h.Handle(ctx, req)
		if !response.Allowed {
			return response
		}
		warnings = append(warnings, response.Warnings...)
	}
	return Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Allowed:  true,
		Result:   &metav1.Status{Code: http.StatusOK},
		Warnings: warnings,
	}}
}

// MultiMutatingHandler makes one handler of several. They are asked one after
// the other, each about the object as it was sent, and their patches are sent as one, in this order: they must
// not touch the same fields. The first that does not allow the operation ends it with its own response.
func MultiMutatingHandler(handlers ...Handler) Handler {
	return multiMutating(handlers)
}

type multiMutating []Handler

// Handle implements Handler.
func (hs multiMutating) Handle(ctx context.Context, req Request) Response {
	patches := []jsonpatch.JsonPatchOperation{}
	var warnings []string
	for _, h := range hs {
		response := h.Handle(ctx, req)
		if !response.Allowed {
			return response
		}
		more, err := response.operations()
		if err != nil {
			return Errored(http.StatusInternalServerError, err)
		}
		patches = append(patches, more...)
		warnings = append(warnings, response.Warnings...)
	}
	patch, err := json.Marshal(patches)
	if err != nil {
		return Errored(http.StatusBadRequest, fmt.Errorf("patches of the handlers: %w", err))
	}
	return Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Allowed:   true,
		Result:    &metav1.Status{Code: http.StatusOK},
		Patch:     patch,
		PatchType: jsonPatchType(),
		Warnings:  warnings,
	}}
}

// operations returns what the response does to the object, in whichever form it says so.
func (r *Response) operations() ([]jsonpatch.JsonPatchOperation, error) {
	if r.PatchType != nil && *r.PatchType != admissionv1.PatchTypeJSONPatch {
		return nil, fmt.Errorf("patch returned by the handler: its type is %v, must be %v", *r.PatchType, admissionv1.PatchTypeJSONPatch)
	}
	if len(r.Patches) > 0 || len(r.Patch) == 0 {
		return r.Patches, nil
	}
	var operations []jsonpatch.JsonPatchOperation
	if err := json.Unmarshal(r.Patch, &operations); err != nil {
		return nil, fmt.Errorf("patch returned by the handler: %w", err)
	}
	return operations, nil
}
