// Package marker reads markers: comment lines such as
//
//	// +kubebuilder:validation:Enum=a;b
//	// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
//
// that steer a generator.
//
// A [Definition] is a marker that a generator knows: its name, what it may stand on ([Target]), the Go type of its arguments, and its
// help. It is data: [Define] makes one, and adding a marker is adding a Define to the list of its generator. A [Registry] is the set of
// definitions of one run; there is no registry of the process. [Parse] turns text into arguments. A [Collector] finds the markers of a
// package, its types and their fields, and hands them out as [Values].
//
// Which comments belong to what: to a type or field its doc comment, and the comment right before that, with a blank line between the two; to a
// package its own doc comment and every comment that stands alone between declarations. A marker of packages in the comment before a type's
// doc comment is the package's. Markers after code on the same line, in block comments and in function bodies are not read.
//
// A Collector is safe for concurrent use. What is wrong with a marker (unknown arguments, values that do not parse) is added to its list of
// mistakes; an unknown marker to its list of doubts, and so are a marker where nobody looks for it, and what was meant for one and is none: with a blank
// beside its name, without its plus sign, in a block comment.
package marker
