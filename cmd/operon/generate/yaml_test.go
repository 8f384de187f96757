package generate_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	goyaml "go.yaml.in/yaml/v2"
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

// awkward are texts that YAML would read as something else, or that have to be folded.
var awkward = []string{
	"", " ", "-", "--", "---", "--- a", "...", "?", "? a", ":", ": a", "a:", "a: b", "a:b", "a #b", "a#b", "#a", "'", "it's", "'a'", `"a"`, `a"b`, "@a", "`a`", "%a", "!a", "&a", "*a", "|a", ">a", ",a", "[a]", "{a}",
	"1", "01", "0x1F", "0b1", "1_000", "1e3", "1.5", ".5", ".", ".inf", "-.INF", "+1", "-1", "-a", "+a", "1:30", "1:30:00.5", "190:20:30", "2001-01-01", "2001-01-01T00:00:00Z", "2001-1-1 1:1:1", "20010101", "~", "~a", "<<", "=",
	"y", "n", "yes", "No", "TRUE", "off", "null", "Null", "nULL", "true ", "falsehood", "\t", "a\tb", "\ta", "a\t", "a\x00b", "a\x7fb", "a\x1bb", "\\", `\d+`, "a\\ b", "a\rb", "a\u0085b", "a\u00a0b", "a\u2028b", "a\u2029", "\ufeffa", "a\ufeff", "a\ufffdb",
	"é", "日本", "a 🎉", "half \xc3", "\n", "\n\n", "a\n", "a\n\n", "\na", " a\nb", "a \nb", "a\n b", "a\nb ", "a\n\tb", "a\n\n\nb", "a: b\n# c", "  \n", "\n ", "é\n日本\n", "# a\n- b",
	strings.Repeat("word ", 40), strings.Repeat("word ", 40) + "end", strings.Repeat("word  ", 40) + "end", strings.Repeat("日本 ", 40) + "end", strings.Repeat("it's ", 40) + ": end",
	strings.Repeat("tab\t a ", 30) + "end", strings.Repeat("tab\t  a", 30) + "  end", strings.Repeat("x", 127), strings.Repeat("x", 128), strings.Repeat("x", 129), strings.Repeat("x ", 70) + "x", "1" + strings.Repeat(" 1", 80),
	"a1", "a01", "a10", "a010", "a100", "a2", "a02", "1a", "10a", "9a", "A1", "a-1", "a_1", "a٣", "a٢", "100", "1000", "1010", "101", "20", "1.10", "1.9",
}

func TestAwkwardTextIsWrittenAsTheLibraryWritesIt(t *testing.T) {
	for _, a := range awkward {
		equalsTheLibrary(t, map[string]any{"key": a})
		equalsTheLibrary(t, map[string]any{"key": map[string]any{"list": []any{a, []any{a, map[string]any{"a": a, "b": a}}}}})
		equalsTheLibrary(t, map[string]any{"key": a, strings.Repeat("deep", 20): map[string]any{strings.Repeat("deep", 18): map[string]any{"key": a}}})
		if utf8.ValidString(a) {
			equalsTheLibrary(t, map[string]any{a: "value", "x": map[string]string{a: a}, "texts": []string{a}})
		}
	}
	// Keys are compared in pairs, for the library's order of more is not always one.
	for i, a := range awkward {
		for _, b := range awkward[:i] {
			if utf8.ValidString(a) && utf8.ValidString(b) {
				equalsTheLibrary(t, map[string]any{"k" + a: 1, "k" + b: 2})
			}
		}
	}
}

func FuzzTextIsWrittenAsTheLibraryWritesIt(f *testing.F) {
	for i, a := range awkward {
		f.Add(a, awkward[len(awkward)-1-i], 1.5)
	}
	f.Fuzz(func(t *testing.T, a, b string, n float64) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || math.IsNaN(n) || math.IsInf(n, 0) {
			return
		}
		equalsTheLibrary(t, map[string]any{
			"list":  []any{a, b, n, map[string]any{b: []any{[]any{b, a}, n}, a: map[string]any{"deep": map[string]any{"deeper": b + " " + a}}}},
			"lines": a + "\n" + b, "keys": map[string]string{"a" + a: b, "a" + b: a}, "texts": []string{a, b}, "last": a + b,
		})
	})
}

func equalsTheLibrary(t *testing.T, tree map[string]any) {
	t.Helper()
	want, err := goyaml.Marshal(generate.Plain(tree))
	if err != nil {
		t.Fatal(err)
	}
	got, err := generate.YAML("", tree)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != "---\n"+string(want) {
		t.Errorf("%q: (-go.yaml.in/yaml +YAML):\n%s", tree, cmp.Diff("---\n"+string(want), string(got)))
	}
}

func TestATreeStaysAsItIsWhenItIsWritten(t *testing.T) {
	tree := func() map[string]any {
		return map[string]any{"a": 1.0, "b": []any{2.0, map[string]any{"c": json.Number("3")}}, "odd\n": "half \xc3"}
	}
	written := tree()
	if _, err := generate.YAML("", written); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(), written); diff != "" {
		t.Error(diff)
	}
}
