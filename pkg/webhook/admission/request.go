package admission

import (
	"context"
	"errors"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
)

// Request is the question: which object, which operation, who asks.
type Request struct {
	admissionv1.AdmissionRequest
}

// Response is the answer.
type Response struct {
	// Patches change the object, if it is a mutating webhook that answers. If
	// there are any, they are encoded into Patch and replace what is there.
	Patches []jsonpatch.JsonPatchOperation

	// AdmissionResponse is what is sent.
	admissionv1.AdmissionResponse
}

// Handler answers requests. It is called by several goroutines at once.
type Handler interface {
	// Handle answers one request. The context is the one of the HTTP request:
	// it ends when the API server hangs up, or shortly before it would.
	Handle(context.Context, Request) Response
}

// HandlerFunc is a function that is a Handler.
type HandlerFunc func(context.Context, Request) Response

// Handle implements Handler.
func (f HandlerFunc) Handle(ctx context.Context, req Request) Response {
	return f(ctx, req)
}

type requestKey struct{}

var errNoRequest = errors.New("the context carries no request: only those of webhooks and of NewContextWithRequest do")

// RequestFromContext returns the request that a Defaulter or Validator is
// called for. It fails for any other context.
func RequestFromContext(ctx context.Context) (Request, error) {
	if req, ok := ctx.Value(requestKey{}).(Request); ok {
		return req, nil
	}
	return Request{}, errNoRequest
}

// NewContextWithRequest returns a context that carries a request, for
// RequestFromContext. It is for tests: in a webhook the context carries it already.
func NewContextWithRequest(ctx context.Context, req Request) context.Context {
	return context.WithValue(ctx, requestKey{}, req)
}
