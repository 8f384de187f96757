// Package filters keeps the metrics endpoint for those who may read it.
//
// A filter is put around the handlers of a metrics server (server.Options.FilterProvider). The one here asks the API server,
// for each request, who the bearer token belongs to (a TokenReview) and whether they may do with the path what the
// request's method says (a SubjectAccessReview of a non-resource URL).
//
// # Guarantees
//
//   - Without a token that the API server confirms, the answer is 401; without the right, 403; where the API server cannot be asked, 500. No
//     handler behind the filter is called then.
//   - A token is neither logged nor kept, nor passed on to the handlers: what is remembered of it is its SHA-256.
//   - What is remembered is bounded in number and in time, see [WithAuthenticationAndAuthorization].
//
// # What is not guaranteed
//
// A token or a right that is taken away may work until what is remembered of it has expired. Client certificates are not looked at.
package filters
