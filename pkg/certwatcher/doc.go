// Package certwatcher serves a TLS certificate from two files and follows their changes.
//
// A [CertWatcher] reads a certificate and its key when it is made, and hands
// them out through GetCertificate, for [crypto/tls.Config]. While Start runs it reads them again
// when the file system reports a change in their directories, and every ten seconds besides,
// for file systems that report nothing.
//
//	watcher, err := certwatcher.New("/certs/tls.crt", "/certs/tls.key")
//	...
//	go watcher.Start(ctx)
//	listener := tls.NewListener(inner, &tls.Config{GetCertificate: watcher.GetCertificate})
//
// # Guarantees
//
// GetCertificate never reads a file, nor waits for one. A certificate that cannot be read, or
// does not fit its key, changes nothing: the last good one is served until
// the files are whole again. Files that are exchanged by a symbolic link, as
// the kubelet does it, are followed.
//
// # What is not guaranteed
//
// Validity is not looked at: an expired certificate is served like any other.
// Several changes in quick succession may be seen as one.
package certwatcher
