// Package certificates makes, shares and rotates the certificates of webhooks,
// so that no other component has to.
//
// A [Keeper] holds a certificate authority and the serving certificate that
// the authority has signed. Both live in a Secret, which all replicas read and any
// of them may write. The authority's own certificate goes, as a CA bundle, into every client
// configuration that leads to these webhooks: of ValidatingWebhookConfigurations,
// MutatingWebhookConfigurations and conversion stanzas of CustomResourceDefinitions. Which those
// are, the Keeper sees by the Service that they name, or by the host of their URL. A manager runs
// a Keeper when its options have WebhookCertificates:
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{
//		WebhookCertificates: &certificates.Options{
//			Service: types.NamespacedName{Namespace: "memcached-system", Name: "memcached-webhook-service"},
//		},
//	})
//
// # Lifecycle
//
//  1. The first replica makes the authority and a certificate and creates the Secret; the others find it.
//  2. Every replica puts the bundle where it belongs, and again whenever somebody takes it away.
//  3. After two thirds of its life the serving certificate is replaced by
//     another one of the same authority. Nobody else has to know.
//  4. After two thirds of its life the authority is replaced: the next one is
//     stored, then trusted everywhere beside the old one, and only when API
//     servers have had time to notice ([Options.Propagation]), does it sign
//     the certificate that is served. The old one stays trusted until it expires.
//
// # Guarantees
//
// A certificate whose authority is not yet in all client configurations is
// not served while there is another one to serve: a rotation fails no admission.
// Replicas that write at the same time do not undo each other's work, as each
// write names the version it is based on. A Secret that is lost or damaged is made
// anew, and what is still served stays trusted meanwhile. A configuration that
// asks cert-manager for its bundle (annotation cert-manager.io/inject-ca-from,
// inject-ca-from-secret or inject-apiserver-ca) is left to it. One that does not take the bundle holds up the next
// authority until the present one expires, and no renewal of the serving certificate; one that may not be patched
// does not hold up the start either.
//
// # What is not guaranteed
//
// Clocks of replicas must agree within [Options.Propagation]. Who may read the
// Secret can act as the webhooks. When all replicas were down until the
// certificate had expired, requests fail until one of them is back and has made another.
//
// # Permissions
//
// In the Secret's namespace: get, list, watch, create and update for secrets.
// In the cluster: list, watch and patch for validatingwebhookconfigurations,
// mutatingwebhookconfigurations (admissionregistration.k8s.io) and
// customresourcedefinitions (apiextensions.k8s.io). A kind that may not be
// listed gets no bundles, which is logged and harms nobody who has no such webhook.
package certificates
