// Package healthz serves liveness and readiness over HTTP.
//
// A [Checker] tells whether one thing is well. A [Handler] serves a set of
// named ones: all of them together at its root, each of them under its name. A
// [CheckHandler] serves a single one.
//
// # Answers
//
// A path answers 200 and "ok" when every check it stands for passes, and 500
// otherwise. At the root of a Handler the query parameter verbose asks for one
// line a check, which a failure gives in any case; exclude, which may be
// repeated, leaves checks out by their names. What a failed check said is
// logged, and shown only when it is asked for by name: the summary may be
// readable by anyone. Unknown names answer 404.
//
// # What is not guaranteed
//
// Checks run one after the other, anew for each request, on the goroutine that serves it. They
// get no deadline but the request's own.
package healthz
