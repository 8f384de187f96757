// Package webhook generates the MutatingWebhookConfiguration and the ValidatingWebhookConfiguration of an operator from the
// +kubebuilder:webhook markers beside its handlers. Its output is controller-gen's, byte for byte.
//
// Its nouns: a [Hook] is what one marker says; a [Configuration] names the object that hooks of one sort go to; a patch
// is the JSON by which a marker sets what no argument of its own is for.
//
// Guaranteed: one file for all packages of a run, or none where there is no webhook; webhooks sorted by name. What the API
// server refuses in a webhook is a mistake with the marker's position.
//
// Not guaranteed: that anything serves the path. The certificate of the server (caBundle) is left to whatever injects it.
package webhook
