// Package rbac generates the roles that an operator needs from the +kubebuilder:rbac markers beside the code that needs
// them. Its output is controller-gen's, byte for byte.
//
// Its nouns: a [Rule] is what one marker says; a grant is a rule in a role, merged from several markers; a role is a
// ClusterRole, or a Role where a rule names a namespace; a binding, which controller-gen does not know and which is
// written only on request, gives a Role to the operator's service account.
//
// Guaranteed: one file for all packages of a run, or none where there is no marker; the same roles whatever the order of
// the markers; rules that grant the same are one. A rule that the API server refuses, or that can never match a request,
// is a mistake with the marker's position.
//
// Not guaranteed: that the rules suffice for what the code does.
package rbac
