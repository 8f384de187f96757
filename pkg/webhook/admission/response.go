package admission

import (
	"encoding/json"
	"errors"
	"net/http"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Allowed returns a response that lets the operation through. The message may be empty.
func Allowed(message string) Response {
	return ValidationResponse(true, message)
}

// Denied returns a response that forbids the operation, for the reason that the message gives.
func Denied(message string) Response {
	return ValidationResponse(false, message)
}

// Patched returns a response that lets the operation through with a changed object.
func Patched(message string, patches ...jsonpatch.JsonPatchOperation) Response {
	response := Allowed(message)
	response.Patches = patches
	return response
}

// Errored returns a response that stops the operation because the question
// could not be answered. The code is an HTTP status.
func Errored(code int32, err error) Response {
	return Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Result: &metav1.Status{Code: code, Message: err.Error()},
	}}
}

// ValidationResponse returns Allowed or Denied.
func ValidationResponse(allowed bool, message string) Response {
	result := &metav1.Status{Code: http.StatusOK, Message: message}
	if !allowed {
		result.Code, result.Reason = http.StatusForbidden, metav1.StatusReasonForbidden
	}
	return Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: allowed, Result: result}}
}

// PatchResponseFromRaw returns a response whose patches turn one JSON document
// into another. The original should be the bytes of the request, not an
// object encoded again: that would have lost what the Go type does not know, and the patch could not remove or
// step around it.
func PatchResponseFromRaw(original, current []byte) Response {
	patches, err := createPatch(original, current)
	if err != nil {
		return Errored(http.StatusInternalServerError, err)
	}
	response := Response{Patches: patches, AdmissionResponse: admissionv1.AdmissionResponse{Allowed: true}}
	if len(patches) > 0 {
		response.PatchType = jsonPatchType()
	}
	return response
}

// WithWarnings returns a response that also carries these warnings, after
// those it has. The API server shows them to who made the request, and cuts what is longer than 256 characters.
func (r Response) WithWarnings(warnings ...string) Response {
	r.Warnings = append(r.Warnings[:len(r.Warnings):len(r.Warnings)], warnings...)
	return r
}

// Complete fills in what is still to be set before r is sent: the request's
// UID, the status code, and the patch. It fails if a patch cannot be encoded.
func (r *Response) Complete(req Request) error {
	r.UID = req.UID
	if r.Result == nil || r.Result.Code == 0 {
		// A handler may give many requests the same answer.
		var result metav1.Status
		if r.Result != nil {
			result = *r.Result
		}
		result.Code = http.StatusOK
		r.Result = &result
	}
	if len(r.Patches) == 0 {
		return nil
	}
	patch, err := json.Marshal(r.Patches)
	if err != nil {
		return err
	}
	r.Patch, r.PatchType = patch, jsonPatchType()
	return nil
}

func jsonPatchType() *admissionv1.PatchType {
	t := admissionv1.PatchTypeJSONPatch
	return &t
}

// refused returns the response to an error of a Defaulter or Validator: the
// status that the error holds, or else a denial.
func refused(err error) Response {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return Denied(err.Error())
	}
	result := status.Status()
	return Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &result}}
}
