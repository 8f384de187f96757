package generate

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v2"
)

// YAML renders objects as one stream of documents, below a header, with sorted keys. An object is a tree of maps, lists and scalars, or
// anything that encodes as JSON. The text is that of sigs.k8s.io/yaml; trees do not take its detour by way of JSON.
func YAML(header string, objects ...any) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(header)
	for _, object := range objects {
		tree, ok := object.(map[string]any)
		if !ok {
			var err error
			if tree, err = decode(object); err != nil {
				return nil, err
			}
		}
		doc, err := document(tree)
		if errors.Is(err, errOdd) {
			doc, err = yaml.Marshal(Plain(tree))
		}
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(doc)
	}
	return out.Bytes(), nil
}

func decode(object any) (map[string]any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	tree := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return tree, decoder.Decode(&tree)
}

// Plain returns a value whose numbers and text are what they are after a trip through JSON: a number without a fraction is an integer, text is valid UTF-8.
// The value itself stays as it is.
func Plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		plain := make(map[string]any, len(v))
		for key, item := range v {
			plain[key] = Plain(item)
		}
		return plain
	case []any:
		plain := make([]any, len(v))
		for i, item := range v {
			plain[i] = Plain(item)
		}
		return plain
	case string:
		if !utf8.ValidString(v) {
			return string([]rune(v))
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v)
		}
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if n, err := v.Int64(); err == nil {
				return n
			}
		}
		if f, err := v.Float64(); err == nil {
			return Plain(f)
		}
	case nil, bool, int, int32, int64, []string, map[string]string:
	default:
		// Lists and maps of other types come from the arguments of markers.
		wrapped, err := decode(map[string]any{"": v})
		if err == nil {
			return Plain(wrapped[""])
		}
	}
	return value
}
