// Package admission answers the questions that API servers ask before they
// store, change or delete an object.
//
// A [Webhook] is an HTTP handler. It decodes an AdmissionReview into a
// [Request], has its [Handler] make a [Response] of it, and encodes that. Two
// kinds of handlers need no code beyond the decision itself:
//
//   - a [Defaulter] changes an object of its type; [WithDefaulter] turns the
//     changes into a JSON patch;
//   - a [Validator] judges the creation, the update and the deletion of an
//     object of its type, with an error to deny it and warnings to speak up; see [WithValidator].
//
// [Allowed], [Denied], [Patched] and [Errored] make responses by hand, and
// [MultiMutatingHandler] and [MultiValidatingHandler] make one handler of
// several. Package builder puts webhooks on a manager's server;
// [StandaloneWebhook] prepares one for a server of one's own.
//
// # Guarantees
//
// A request that is no AdmissionReview is answered with a denial that says
// why, and so is one whose handler panics: other requests notice nothing.
// The patch of a Defaulter does not touch fields that its Go type does not
// know, wherever they are, unless [DefaulterRemoveUnknownOrOmitableFields] is given.
// A handler's context ends a little before the API server stops waiting for
// the answer, and carries a logger that names the request; [RequestFromContext] returns the request itself to
// Defaulters and Validators. Objects are never logged.
//
// # What is not guaranteed
//
// A handler that ignores its context runs on after the API server has given
// up; this is logged. Handlers run concurrently, and one request may be sent twice. Who asks
// is not authenticated, unless the server demands a client certificate.
package admission
