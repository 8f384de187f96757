package crd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// formats are those that the API server looks at, by the type of the value. It passes over all others, which may mean something to other readers.
var formats = map[string][]string{
	"string": {
		"bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5", "isbn", "isbn10", "isbn13", "creditcard", "ssn",
		"hexcolor", "rgbcolor", "byte", "password", "date", "duration", "date-time", "k8s-short-name", "k8s-long-name",
	},
	"integer": {"int32", "int64"},
	"number":  {"float", "double"},
}

// otherFormats are of OpenAPI's and JSON Schema's own, so that they are no slips of what the API server looks at.
var otherFormats = []string{
	"int8", "int16", "uint8", "uint16", "uint32", "uint64", "double-int", "decimal", "decimal128", "char", "binary", "base64url", "html", "commonmark", "media-type",
	"time", "time-local", "date-time-local", "http-date", "idn-email", "idn-hostname", "iri", "iri-reference", "uri-reference", "uri-template", "json-pointer",
	"relative-json-pointer", "regex", "quantity", "int-or-string",
}

// futileFormat tells why the API server does not look at a format, where that cannot be meant: it is for values of another type, or a slip of another.
func futileFormat(s *Schema, format string) (wrong astray) {
	typ := s.Type
	if typ == "" {
		typ = "string" // as far as the API server is concerned
	}
	plain := func(name string) string { return strings.ReplaceAll(name, "-", "") }
	looksAt := func(typ string) bool {
		return slices.ContainsFunc(formats[typ], func(f string) bool { return f == format || typ == "string" && plain(f) == plain(format) })
	}
	if looksAt(typ) {
		return astray{}
	}
	for _, other := range []string{"string", "integer", "number"} {
		if s.Type == "" || !looksAt(other) {
			continue
		}
		fix := ""
		if s.Type == "array" && s.Items != nil && s.Items.Type == other {
			fix = "write +kubebuilder:validation:items:Format=" + format
		}
		return astray{fmt.Sprintf("the API server looks at the format %s only where the type is %s, and this is %s", format, other, article(s.Type)), fix}
	}
	if slices.Contains(otherFormats, format) {
		return astray{}
	}
	allowed := 2
	if len(format) <= 4 {
		allowed = 1
	}
	for _, f := range formats[typ] {
		if marker.Distance(strings.ToLower(plain(format)), plain(f)) <= allowed {
			return astray{fmt.Sprintf("the API server knows no format %q, and does not look at it", format), fmt.Sprintf("did you mean %q?", f)}
		}
	}
	return astray{}
}
