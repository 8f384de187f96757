// Package crdschema does to custom resources what an API server does by their CustomResourceDefinition.
//
// A [Version] is one served version of a definition: its kind, scope, subresources and schema. [Load] makes them.
// [Version.Normalize] fills in defaults and drops unknown fields, [Version.Validate] checks an object against the schema,
// and [TypeConverter] lets server-side apply see lists and maps as the schema describes them.
//
// # What is not done
//
// CEL rules (x-kubernetes-validations) are not evaluated here: their interpreter belongs to k8s.io/apiserver, which the library
// does not link. [Version.Validate] asks [Version.Rules], where somebody has set them. Objects are not converted between versions beyond their apiVersion.
package crdschema
