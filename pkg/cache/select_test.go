package cache

import (
	"slices"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func TestOneOfIsAFieldSelector(t *testing.T) {
	o := oneOf{field: "f", values: []string{"x", "y"}}
	for value, want := range map[string]bool{"x": true, "y": true, "z": false, "": false} {
		if got := o.Matches(fields.Set{"f": value}); got != want {
			t.Errorf("%q matches: %t", value, got)
		}
	}
	if _, exact := o.RequiresExactMatch("f"); exact {
		t.Error("one of two is exact")
	}
	if v, exact := (oneOf{field: "f", values: []string{"x"}}).RequiresExactMatch("f"); !exact || v != "x" {
		t.Error("one of one is not exact")
	}
	moved, err := o.Transform(func(field, value string) (string, string, error) { return "g", value + "!", nil })
	if err != nil || moved.String() != "g in (x!,y!)" || o.DeepCopySelector().String() != "f in (x,y)" || o.Empty() {
		t.Errorf("%s, %v", moved, err)
	}
}

// A selector that matches nothing has no text of its own, and the empty text asks an API server for everything.
func TestAFeedOfNothingAsksForNothing(t *testing.T) {
	for name, s := range map[string]settings{
		"labels":                   {Config: Config{LabelSelector: labels.Nothing()}},
		"fields":                   {Config: Config{FieldSelector: fields.Nothing()}},
		"fields but of namespaces": {Config: Config{FieldSelector: fields.Nothing()}, except: []string{"a"}},
	} {
		var opts metav1.ListOptions
		newFeed(nil, s).selectOnly(&opts)
		byLabel, err := labels.Parse(opts.LabelSelector)
		if err != nil {
			t.Fatal(err)
		}
		byField, err := fields.ParseSelector(opts.FieldSelector)
		if err != nil {
			t.Fatal(err)
		}
		if byLabel.Matches(labels.Set{}) && byField.Matches(fields.Set{"metadata.name": "x", "metadata.namespace": "b"}) {
			t.Errorf("%s: asked for %q and %q, which objects match", name, opts.LabelSelector, opts.FieldSelector)
		}
	}
}

func FuzzSplitValues(f *testing.F) {
	for _, seed := range [][2]string{{"a", "b"}, {"", ""}, {"a,b", `c\`}, {`\,`, "="}} {
		f.Add(seed[0], seed[1], seed[0])
	}
	f.Fuzz(func(t *testing.T, a, b, raw string) {
		_, _ = splitValues(raw)
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return // no field of an object has such a value
		}
		want := []string{a, b}
		got, err := splitValues(oneOf{values: want}.joined())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q became %q, %v", want, got, err)
		}
	})
}
