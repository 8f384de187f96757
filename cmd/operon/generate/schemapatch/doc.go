// Package schemapatch puts schemas generated from Go types into CustomResourceDefinitions that are written by hand. Its
// output is controller-gen's, byte for byte.
//
// Its nouns: a manifest is a YAML file with one CustomResourceDefinition; its versions are matched with the kinds that
// package crd finds in the source, by group, kind and version.
//
// Guaranteed: of a manifest only the schemas change, and the layout, which becomes uniform; comments stay. A version of a
// known kind that has no Go type loses its schema; a manifest whose kind is in no package keeps its own. Files that are no
// manifests are passed over. A manifest that gets schemas is put before the API server's own checks as a whole: what is wrong with its schemas is
// a mistake in the types, what is wrong with the rest of it a doubt in the manifest. All others are not looked at.
//
// Not guaranteed: that the manifest and the markers agree about anything but the schema.
package schemapatch
