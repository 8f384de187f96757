// Package image makes the container image of a manager without Docker, and pushes it. It is what the verbs build and push of the
// operon command do.
//
// Its nouns:
//
//   - A Platform is an operating system and an architecture, linux/arm64 for example.
//   - A Binary is the manager compiled for one platform.
//   - An Image is one binary, the certificates of public authorities and a user database, to be run as a user that is not
//     root; an Index is the images of several platforms under one name.
//   - A bill of materials (SBOM, in the CycloneDX format) lists the modules that a binary was built from. Each image has one, attached as
//     an artifact that refers to it (OCI image specification 1.1).
//   - A Layout is a directory of the OCI image layout, from which an index is pushed or loaded.
//
// Guarantees: the same sources, Go version and options give the same digests, on every machine, in every directory and at
// every time; an image holds no shell, no package manager and nothing setuid; a layout or a tarball is complete or is not there; what is pushed
// is what was built.
//
// Not guaranteed: that an image built by `docker build` from the project's Dockerfile has the same digest; managers that need cgo.
package image
