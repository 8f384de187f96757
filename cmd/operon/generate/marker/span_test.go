package marker

import (
	"testing"
)

func TestTheWordsInQuestionAreFound(t *testing.T) {
	span := func(text, args string) Span { return Span{Pos: 1, Len: len(text), args: args} }
	for _, tt := range []struct {
		name, text, args string
		find             func(Span) Span
		want             string
	}{
		{"an argument", `+r:groups=apps,verbs=get;list`, `groups=apps,verbs=get;list`, func(s Span) Span { return s.Argument("verbs") }, `verbs=get;list`},
		{"the first argument", `+r:groups=apps,verbs=get`, `groups=apps,verbs=get`, func(s Span) Span { return s.Argument("groups") }, `groups=apps`},
		{"a comma in quotes", `+x:rule="a,b=c",message=m`, `rule="a,b=c",message=m`, func(s Span) Span { return s.Argument("message") }, `message=m`},
		{"a comma in braces", `+x:list={a,b=c},message=m`, `list={a,b=c},message=m`, func(s Span) Span { return s.Argument("list") }, `list={a,b=c}`},
		{"no such argument", `+x:rule=a`, `rule=a`, func(s Span) Span { return s.Argument("message") }, `+x:rule=a`},
		{"a sole argument", `+default=7`, `7`, func(s Span) Span { return s.Argument("") }, `7`},
		{"no argument", `+bare`, ``, func(s Span) Span { return s.Argument("") }, `+bare`},
		{"an item", `+r:verbs=get;gets;list`, `verbs=get;gets;list`, func(s Span) Span { return s.Item("verbs", "gets") }, `gets`},
		{"a quoted item", `+r:verbs=get;"gets"`, `verbs=get;"gets"`, func(s Span) Span { return s.Item("verbs", "gets") }, `gets`},
		{"the last item", `+r:verbs=gets;get,x=y`, `verbs=gets;get,x=y`, func(s Span) Span { return s.Item("verbs", "get") }, `get`},
		{"no such item", `+r:verbs=get`, `verbs=get`, func(s Span) Span { return s.Item("verbs", "list") }, `verbs=get`},
		{"part of a span", `+r:verbs=get`, ``, func(s Span) Span { return s.From(3, 5) }, `verbs`},
		{"too much of a span", `+r:verbs=get`, ``, func(s Span) Span { return s.From(9, 50) }, `get`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.find(span(tt.text, tt.args))
			from := int(got.Pos) - 1
			if text := tt.text[from : from+got.Len]; text != tt.want {
				t.Errorf("%q, want %q", text, tt.want)
			}
		})
	}
}

func TestTextIsFoundOnlyWhereItStandsAsMeant(t *testing.T) {
	for args, want := range map[string]bool{
		"rule=\"self == 'a'\",message=m":     true,
		"rule=`self == 'a'`":                 true,
		"rule=\"self ==\\x20'a'\",message=m": false,
	} {
		text := "+x:" + args
		got, ok := Span{Pos: 1, Len: len(text), args: args}.Text("rule", "self == 'a'")
		if ok != want {
			t.Errorf("%s: %v", args, ok)
		}
		if from := int(got.Pos) - 1; ok && text[from:from+got.Len] != "self == 'a'" {
			t.Errorf("%s: %q", args, text[from:from+got.Len])
		}
	}
}

func FuzzPartsOfASpanAreWithinIt(f *testing.F) {
	f.Add("name=\"x\",JSONPath=.y", "JSONPath", "y")
	f.Add("a={b,c};d,e=`", "e", "")
	f.Fuzz(func(t *testing.T, args, name, word string) {
		whole := Span{Pos: 10, Len: len(args) + 5, args: args}
		text, _ := whole.Text(name, word)
		for _, part := range []Span{whole.Argument(name), whole.Item(name, word), text, whole.From(len(name), len(word))} {
			if part.Len < 0 || part.Pos < whole.Pos || int(part.Pos)+part.Len > int(whole.Pos)+whole.Len {
				t.Errorf("%q: %q, %q: %d+%d", args, name, word, part.Pos, part.Len)
			}
		}
	})
}
