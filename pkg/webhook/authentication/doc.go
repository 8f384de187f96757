// Package authentication answers API servers that ask whom a bearer token belongs to.
//
// A [Webhook] is an HTTP handler. It decodes a TokenReview into a [Request],
// has its [Handler] make a [Response] of it, and encodes that. [Authenticated],
// [Unauthenticated] and [Errored] make responses.
//
// # Guarantees
//
// A request that is no TokenReview, or holds no token, is answered as
// unauthenticated with an error that says why. So is one whose handler
// panics. The token is taken out of the response and never logged.
//
// # What is not guaranteed
//
// Handlers run concurrently. The API server caches answers.
package authentication
