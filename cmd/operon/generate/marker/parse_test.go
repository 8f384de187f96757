package marker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// What controller-gen v0.23.0 reads from the same text.
func TestValuesOfAnyTypeAreReadAsThePeerReadsThem(t *testing.T) {
	def := marker.Define[any]("m", marker.OnField, marker.Help{})
	for text, want := range map[string]any{
		`foo`:                    "foo",
		`foo bar`:                "foo bar",
		`"foo bar"`:              "foo bar",
		"`a\"b`":                 `a"b`,
		`"a\"b\n"`:               "a\"b\n",
		`'single'`:               "'single'",
		`1`:                      1,
		`- 1`:                    -1,
		`-3`:                     -3,
		`1.5`:                    1.5,
		`1e3`:                    1000.0,
		`08`:                     "08",
		`1.2.3`:                  "1.2.3",
		`1 2`:                    "1 2",
		`10Mi`:                   "10Mi",
		`-`:                      "-",
		`true`:                   true,
		`True`:                   "True",
		`http://x.y/z`:           "http://x.y/z",
		`a // b`:                 "a // b",
		`a;b`:                    []string{"a", "b"},
		`a;1`:                    []string{"a", "1"},
		`1;2`:                    []int{1, 2},
		`a;b:c`:                  []string{"a", "b:c"},
		`{}`:                     map[string]any{},
		`{a,b}`:                  []string{"a", "b"},
		`{a,}`:                   []string{"a"},
		`{1.5,2}`:                []float64{1.5, 2},
		`{a;b}`:                  [][]string{{"a", "b"}},
		`{{},{}}`:                []map[string]any{{}, {}},
		`{a: 1, b: {c: "d"}}`:    map[string]any{"a": 1, "b": map[string]any{"c": "d"}},
		`{"a" : "b"}`:            map[string]any{"a": "b"},
		`{1: 2}`:                 map[string]any{"1": 2},
		`{a:b:c}`:                map[string]any{"a": "b:c"},
		`{a: {"b": ["c"]}}`:      map[string]any{"a": map[string]any{"b": `["c"]`}},
		`{ab, cd ef, g }`:        []string{"ab", "cd ef", ""},
		`{a: b , c: d}`:          map[string]any{"a": "", "c": "d"},
		`{{name: a}, {name: b}}`: []map[string]any{{"name": "a"}, {"name": "b"}},
	} {
		got, err := def.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestItemsOfListsAreReadOneByOne(t *testing.T) {
	def := marker.Define[[]any]("m", marker.OnField, marker.Help{})
	for text, want := range map[string][]any{
		`a;1;true`:    {"a", 1, true},
		`a; b; c`:     {"a", "b", "c"},
		`a;b ;c`:      {"a", "", "c"},
		`a b;c d`:     {"a b", "c d"},
		`"a" ; "b"`:   {"a", "b"},
		`a;b;`:        {"a", "b"},
		`{"a",1}`:     {"a", 1},
		`a/b;c-d;e.f`: {"a/b", "c-d", "e.f"},
		`a: b;c`:      {"a: b", "c"},
		`-a;-b`:       {"-a", "-b"},
	} {
		got, err := def.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

type column struct {
	Name     string
	JSONPath string `marker:"JSONPath"`
	Priority int    `marker:",optional"`
	Shown    *bool
	Words    []string `marker:",optional"`
}

func TestArgumentsFillTheFieldsOfAStruct(t *testing.T) {
	def := marker.Define[column]("m:column", marker.OnType, marker.Help{})
	got, err := def.Parse("name=\"Age\", JSONPath=`.a[?(@.b==\"c\")]` ,priority=1,shown=false,words={x,y}")
	if err != nil {
		t.Fatal(err)
	}
	want := column{Name: "Age", JSONPath: `.a[?(@.b=="c")]`, Priority: 1, Shown: new(false), Words: []string{"x", "y"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMistakesInArgumentsSayWhereAndWhatWouldBeRight(t *testing.T) {
	columns := marker.Define[column]("m:column", marker.OnType, marker.Help{})
	count := marker.Define[int]("m:count", marker.OnType, marker.Help{})
	bare := marker.Define[struct{}]("m:bare", marker.OnType, marker.Help{})
	for _, tt := range []struct {
		def    marker.Definition
		text   string
		offset int
		says   string
	}{
		{columns, `name=a,JSONpath=.b`, 7, `did you mean "JSONPath"?`},
		{columns, `name=a`, 0, `lacks its argument "JSONPath"`},
		{columns, `name=a;JSONPath=.b`, 6, "separated by commas"},
		{columns, `name=a,JSONPath=.b,`, 18, "nothing follows the comma"},
		{columns, `name=a,JSONPath=.b,shown=yes`, 25, `"yes" is neither true nor false`},
		{columns, `name="a`, 5, "without its closing quote"},
		{columns, `name=a,JSONPath=.b,words={x,y`, 25, "never closed"},
		{count, `many`, 0, `"many" is not an integer`},
		{count, `1,2`, 1, "follows the value"},
		{count, ``, 0, "+m:count=<int>"},
		{bare, `true`, 0, "takes no arguments"},
	} {
		_, err := tt.def.Parse(tt.text)
		var mistake *marker.ArgumentError
		if !errors.As(err, &mistake) {
			t.Errorf("%s: the error is %v", tt.text, err)
			continue
		}
		if mistake.Offset != tt.offset || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: at %d: %v, want at %d: %s", tt.text, mistake.Offset, err, tt.offset, tt.says)
		}
	}
}

func TestTheNameOfAMarkerIsToldFromItsFirstArgument(t *testing.T) {
	r := marker.NewRegistry([]marker.Definition{
		marker.Define[column]("m:column", marker.OnType, marker.Help{}),
		marker.Define[int]("m:count", marker.OnType|marker.OnField, marker.Help{}),
		marker.Define[struct{}]("m", marker.OnField, marker.Help{}),
	})
	for _, tt := range []struct {
		text string
		on   marker.Target
		name string
		args string
	}{
		{"m:column:name=a,JSONPath=b", marker.OnType, "m:column", "name=a,JSONPath=b"},
		{"m:column:name=a", marker.OnField, "", ""},
		{"m:count=1", marker.OnField, "m:count", "1"},
		{"m:count:=1", marker.OnType, "m:count", "1"},
		{"m:count:value=1", marker.OnType, "m:count", "1"},
		{"m:count:1", marker.OnType, "", ""},
		{"m", marker.OnField, "m", ""},
		{"n", marker.OnField, "", ""},
	} {
		d, args, ok := r.Lookup(tt.text, tt.on)
		if ok != (tt.name != "") || d.Name != tt.name || args != tt.args {
			t.Errorf("%s on a %s: %q with %q, want %q with %q", tt.text, tt.on, d.Name, args, tt.name, tt.args)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"a;b", "{a: {b: 1}}", `name="x",JSONPath=.y`, "{{a},{b}}", "-1.5", "`", "{", "a ,", ";;a", "{a:}"} {
		f.Add(text)
	}
	defs := []marker.Definition{
		marker.Define[any]("any", marker.OnField, marker.Help{}),
		marker.Define[[]any]("list", marker.OnField, marker.Help{}),
		marker.Define[map[string]any]("map", marker.OnField, marker.Help{}),
		marker.Define[column]("column", marker.OnField, marker.Help{}),
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range defs {
			_, err := d.Parse(text)
			var mistake *marker.ArgumentError
			if errors.As(err, &mistake) && (mistake.Offset < 0 || mistake.Len < 0 || mistake.Offset+mistake.Len > len(text)) {
				t.Errorf("%s: %q: the mistake %v is at %d+%d", d.Name, text, err, mistake.Offset, mistake.Len)
			}
		}
	})
}
