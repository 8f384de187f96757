package webhook

import (
	"gomodules.xyz/jsonpatch/v2"

	"github.com/operon-dev/operon/pkg/webhook/admission"
)

// Admission serves an admission handler.
type Admission = admission.Webhook

// AdmissionDecoder decodes the objects of admission requests.
type AdmissionDecoder = admission.Decoder

// AdmissionHandler answers admission requests.
type AdmissionHandler = admission.Handler

// AdmissionRequest is an admission request.
type AdmissionRequest = admission.Request

// AdmissionResponse is the answer to an admission request.
type AdmissionResponse = admission.Response

// CustomDefaulter changes objects of any type.
//
// Deprecated: admission.Defaulter says which type.
//
//lint:ignore SA1019 it is as deprecated here
type CustomDefaulter = admission.CustomDefaulter

// CustomValidator judges objects of any type.
//
// Deprecated: admission.Validator says which type.
//
//lint:ignore SA1019 it is as deprecated here
type CustomValidator = admission.CustomValidator

// JSONPatchOp is one step of a JSON patch.
type JSONPatchOp = jsonpatch.Operation

var (
	// Allowed returns a response that lets an operation through.
	Allowed = admission.Allowed

	// Denied returns a response that forbids an operation.
	Denied = admission.Denied

	// Patched returns a response that lets an operation through with a changed object.
	Patched = admission.Patched

	// Errored returns a response that stops an operation because of an error.
	Errored = admission.Errored
)
