// Package httpserver ends the HTTP servers that are Operon's own: the webhook
// server and the metrics server.
//
// It guarantees that a connection without a request never holds up the end of
// a server, whenever it was made. It starts nothing, and does not decide how
// long requests under way may take: its callers do. It is not for servers that
// users bring: what they registered to be called at the end, it may call more than once.
package httpserver
