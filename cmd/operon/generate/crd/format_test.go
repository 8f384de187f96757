package crd

import (
	"testing"

	apiserver "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// The formats said to be known are those of the API server, and what is said to be none is not.
func TestFormatsAreThoseOfTheAPIServer(t *testing.T) {
	recognized := func(typ, format string) bool {
		s := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{typ}, Format: format}}
		return len(apiserver.GetUnrecognizedFormats(s, version.MajorMinor(1, 37))) == 0
	}
	for typ, known := range formats {
		for _, format := range known {
			if !recognized(typ, format) {
				t.Errorf("the API server does not look at the format %s of a %s", format, typ)
			}
		}
	}
	for _, typ := range []string{"string", "integer", "number", "boolean", "object"} {
		for _, format := range []string{
			"date", "date-time", "datetime", "dat-etime", "date-tme", "DateTime", "k8sshortname", "k8s-short-nam", "uuid", "UUID", "uuid6", "url", "ipv4", "ip4", "IPv4", "cidr", "mac",
			"int32", "int-32", "int64", "integer64", "float", "double", "float64", "hostnme", "bytes",
		} {
			if wrong := futileFormat(&Schema{Type: typ}, format); wrong.what != "" && recognized(typ, format) {
				t.Errorf("%s of a %s: %s, but the API server does", format, typ, wrong.what)
			}
		}
	}
	for _, format := range otherFormats {
		if recognized("string", format) || recognized("integer", format) {
			t.Errorf("the API server looks at the format %s", format)
		}
	}
}
