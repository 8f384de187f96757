package authentication

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Request is the question: whose token this is.
type Request struct {
	authenticationv1.TokenReview
}

// Response is the answer.
type Response struct {
	authenticationv1.TokenReview
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

// Authenticated returns a response that says the token is the user's.
func Authenticated(reason string, user authenticationv1.UserInfo) Response {
	return ReviewResponse(true, user, reason)
}

// Unauthenticated returns a response that says the token is not valid. The
// user is left out: nobody was recognised.
func Unauthenticated(reason string, _ authenticationv1.UserInfo) Response {
	return ReviewResponse(false, authenticationv1.UserInfo{}, reason)
}

// Errored returns a response that says the token could not be checked.
func Errored(err error) Response {
	return ReviewResponse(false, authenticationv1.UserInfo{}, err.Error())
}

// ReviewResponse returns a response with these contents. The audiences are
// those, of the ones asked about, that the token is for.
func ReviewResponse(authenticated bool, user authenticationv1.UserInfo, err string, audiences ...string) Response {
	return Response{TokenReview: authenticationv1.TokenReview{Status: authenticationv1.TokenReviewStatus{
		Authenticated: authenticated,
		User:          user,
		Audiences:     audiences,
		Error:         err,
	}}}
}

// Complete fills in what is still to be set before r is sent: the request's UID. It never fails.
func (r *Response) Complete(req Request) error {
	r.UID = req.UID
	return nil
}
