package crd

// typeName names a type: the path of its package, and its name there.
type typeName struct{ pkg, name string }

const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// knownTypes have schemas that do not follow from their Go types, because they encode themselves.
var knownTypes = map[typeName]Schema{
	{metaPackage, "ObjectMeta"}: {Type: "object"},
	{metaPackage, "Time"}:       {Type: "string", Format: "date-time"},
	{metaPackage, "MicroTime"}:  {Type: "string", Format: "date-time"},
	{metaPackage, "Duration"}:   {Type: "string"},
	{metaPackage, "Fields"}:     {Type: "object", AdditionalProperties: &Schema{}},
	{"k8s.io/apimachinery/pkg/api/resource", "Quantity"}: {
		IntOrString: true, AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}}, Pattern: quantityPattern,
	},
	{"k8s.io/apimachinery/pkg/runtime", "RawExtension"}:                   {Type: "object", PreserveUnknownFields: new(true)},
	{"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured", "Unstructured"}: {Type: "object"},
	{"k8s.io/apimachinery/pkg/util/intstr", "IntOrString"}: {
		IntOrString: true, AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}},
	},
	{"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "JSON"}:      {PreserveUnknownFields: new(true)},
	{"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1", "JSON"}: {PreserveUnknownFields: new(true)},
}

// embeddedMetadata is the schema of ObjectMeta below the top where it is asked for: what a template may set.
func embeddedMetadata() Schema {
	text := func() *Schema { return &Schema{Type: "string"} }
	texts := func() *Schema { return &Schema{Type: "object", AdditionalProperties: text()} }
	return Schema{Type: "object", Properties: map[string]*Schema{
		"name": text(), "namespace": text(), "labels": texts(), "annotations": texts(),
		"finalizers": {Type: "array", Items: text()},
	}}
}
