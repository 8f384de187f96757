package generate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/operon-dev/operon/cmd/operon/generate"
)

func TestTreesAreWrittenAsSigsYAMLWritesThem(t *testing.T) {
	tree := func() map[string]any {
		return map[string]any{
			"integer": 1000000.0, "fraction": 1.5, "small": 0.0000001, "large": 1e21, "negative": -3, "int64": int64(1 << 60),
			"numbers": []float64{1.5, 2}, "texts": []string{"a: b", "- c", "true", "1"}, "nothing": nil, "yes": true,
			"y": "n", "10": "a", "9": "b", "A": "c", "b10": 1, "b9": 2,
			"long":   "long words long words long words long words long words long words: long words long words long words",
			"lines":  "one\n  two\nthree",
			"spaces": "  one\ntwo", "tabs": "one\n\ttwo", "empty": "", "broken": "half \xc3",
			"map":  map[string]any{"a": []any{map[string]any{"b": 1.0}, "c"}},
			"maps": []map[string]any{{"a": 1}, {}}, "pairs": map[string]string{"k": "v"}, "none": map[string]any{},
		}
	}
	want, err := yaml.Marshal(tree())
	if err != nil {
		t.Fatal(err)
	}
	got, err := generate.YAML("# header\n", tree())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("# header\n---\n"+string(want), string(got)); diff != "" {
		t.Errorf("(-sigs.k8s.io/yaml +YAML):\n%s", diff)
	}
}

func TestObjectsThatEncodeAsJSONAreWritten(t *testing.T) {
	object := struct {
		B int    `json:"b"`
		A string `json:"a,omitempty"`
	}{B: 1}
	got, err := generate.YAML("", object, object)
	if err != nil {
		t.Fatal(err)
	}
	if want := "---\nb: 1\n---\nb: 1\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}
