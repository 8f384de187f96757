// Package crd generates CustomResourceDefinitions from Go types and their markers.
//
// A kind is a struct that embeds metav1.TypeMeta and metav1.ObjectMeta in a package with a +groupName. A [Schema] is what the API server
// shall accept for a Go type; the schemas of a type are made once, whoever mentions it, and never changed after that. A [Rule] is a CEL
// validation.
//
// Markers are data. schemaMarkers lists those that change a schema, each with the function that does it; resourceMarkers those that
// change the definition as a whole, together with the fields that they come to and what tells where they lead nowhere; the rest, which are read where the
// generator needs them, are in settings. Adding a marker is adding an element to one of these lists, and an archive to testdata that shows what it does.
//
// Guaranteed: for the markers and options of controller-gen v0.23.0, its output byte for byte, but for the version annotation. What it reports as an
// error is an error here too, with its place, but for bounds on aliases of other packages' types, which it stumbles over.
//
// Reported besides, each with the place of the argument at fault: defaults that do not validate, and keys of lists that are not there or not
// required. A definition is plain when it is made of nothing but what the API server accepts for sure. Any other is put up for review, CEL rules above
// all: whoever runs the generator has the API server's own checks look at it, and the definition's explainer finds the markers that they speak of.
// For that, a schema knows its origins, the declarations it was made of, and a rule the marker it comes from. What no marker says, such as
// a type that is missing or a second version to store, is doubtful and no mistake: published projects patch it in later. Doubtful is also what the API server
// takes and nobody can have meant: bounds that no value keeps, a json name that two fields have, a field that is optional and required, a format that nobody
// looks at, a column that is always empty, a scale without numbers, a status subresource without a status, a marker of kinds on what is none. A format
// is doubtful only where it is a slip of one that the API server knows, or one for values of another type: any other may mean something to other readers. Paths
// into what a schema leaves open are taken for right.
//
// Of Operon's own are generic types, the markers whose names begin with operon:, and the options maxSize and nestedDefaults. Without them the
// output is the peer's.
//
// Not guaranteed: that a definition goes well with those that a cluster has already.
package crd
