// Package webhook serves webhooks to API servers over TLS.
//
// A [Server] has a handler for each path: admission webhooks (package
// admission), the conversion webhook (package conversion), token reviews
// (package authentication), or any other. A manager runs it, before its
// caches; package builder registers what belongs to a kind.
//
// The certificate comes from two files that cert-manager or anybody else puts
// into CertDir, and that are followed when they change; from GetCertificate in TLSOpts; or, with the
// manager's option WebhookCertificates, from package certificates, which makes
// and rotates it without any other component.
//
// # Guarantees
//
// Start returns after the listener is closed and the requests under way have
// ended, or have been cut off after a while. A handler may be registered at any time, under any path once.
// Every handler is measured under the names controller_runtime_webhook_*.
//
// # What is not guaranteed
//
// Everybody who can reach the port may ask, unless ClientCAName or TLSOpts demand a client certificate.
package webhook
