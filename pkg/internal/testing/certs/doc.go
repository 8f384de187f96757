// Package certs issues the certificates of tests.
//
// A [TinyCA] is a certificate authority that lives in memory; it signs serving certificates for programs on this machine and client
// certificates for users of an API server. Keys are of P-256, certificates last a week.
//
// It is not for anything but tests: nothing is revoked, renewed or kept.
package certs
