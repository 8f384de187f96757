// Package conversion generates the conversions between the versions of a kind, so that each version converts to and from one of them.
//
// Its nouns: the hub is the version in the middle, which has a method Hub; a spoke is any other, and says with +operon:conversion:hub where
// the hub is, and with +operon:conversion:kind what the kind is called there, if not the same; a counterpart is the field of the other version that a field becomes, by its name or by +operon:conversion:field; a pair is a
// struct of the one version and a struct of the other, for which there is a function in each direction. A person's function is one that
// the spoke's package declares by hand, with a name that begins with convert and the signature
//
//	func convertAnything(in *A, out *B) error
//
// It is called wherever an A becomes a B: two structs, two basic types, a list and a single value. Where it converts structs, and mentions
// autoConvertAToB by that name (with the package before the name of a type of the hub, as in autoConvertSpecToV2Spec), that function is
// generated: it copies all that has a counterpart of a fitting type.
//
// Copied are fields of equal types; those of the same basic type under two names; integers that fit, with an error at run time for a number that
// does not; and pointers, lists, maps and structs of such. Structs need not have one name. Of a generic struct each instance is one of its own:
// the function for a Box[Part] is convertBoxOfPartToV2BoxOfV2Part.
//
// Guaranteed: every field of both versions is converted, or dropped by +operon:conversion:drop, or kept by +operon:conversion:keep in an
// annotation of the object (conversion.operon.dev/VERSION, as JSON) from which it comes back; a field of which none of this is true is a
// mistake with its position. The methods satisfy conversion.Convertible of github.com/operon-dev/operon, or of
// sigs.k8s.io/controller-runtime where the module has only that.
//
// Not guaranteed: that the versions mean the same by fields of one name. What is converted may share memory with what it came from. A pointer
// does not become a value, for nil has no counterpart there; that needs a person's function, which has no type parameters.
package conversion
