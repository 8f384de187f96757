// Package pki makes and keeps the keys and certificates of one cluster.
//
// A PKI is a certificate authority, the API server's serving certificate, an administrator's client certificate
// (group system:masters) and the key that signs service account tokens. All keys are P-256: making them takes a
// millisecond where RSA would take a large part of the cluster's start.
//
// Guaranteed: every cluster has an authority of its own; the directory is 0700 and its files are 0600; the directory is
// either complete or absent, however the process ends.
//
// Not guaranteed: rotation of the authority. It lives ten years, the leaves are issued anew when they come near their end
// and the data directory is opened again.
package pki
