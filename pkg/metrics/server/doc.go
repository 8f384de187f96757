// Package server serves metrics over HTTP.
//
// A [Server] exposes metrics.Registry under /metrics, in plain text or over TLS,
// and whatever other handlers it was given beside it. A manager makes and runs one from its
// options; it serves whether or not the manager leads.
//
// # Guarantees
//
// Start returns after the listener is closed and the requests under way have
// ended. Certificates in CertDir are picked up when they change, from the next
// handshake on.
//
// # What is not guaranteed
//
// There is no authentication, unless a FilterProvider brings it, such as the one of package filters. A self-signed certificate, made
// when there is none in CertDir, is a new one after each start.
package server
