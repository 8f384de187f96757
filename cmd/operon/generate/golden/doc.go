// Package golden tests a generator against txtar archives. An archive holds a module's source and, in files below want/,
// what the generator is to make of it: want/NAME for an artifact, want/DIR/NAME for one that belongs to the package in DIR,
// and want/mistakes for what is wrong with the source, with the lines underlined.
// An archive without a go.mod gets one, with TypeMeta and ObjectMeta of the API machinery.
//
// With OPERON_GOLDEN=update the want files are written instead of compared. Whether they are right is then the reader's to
// say, or that of the differential test against controller-gen.
package golden
