package crd

import "testing"

func TestDescriptionsAreCutAfterASentenceOrAWord(t *testing.T) {
	sentences, lines := "First sentence. Second sentence is here. Third one", "Line one is here\nline two is there"
	for _, tt := range []struct {
		text   string
		length int
		want   string
	}{
		{sentences, 0, ""},
		{sentences, 3, "Fir..."},
		{sentences, 8, "First..."},
		{sentences, 15, "First sentence."},
		{sentences, 39, "First sentence."},
		{sentences, 40, "First sentence. Second sentence is here."},
		{sentences, 50, sentences},
		{lines, 16, "Line one is..."},
		{lines, 17, "Line one is here..."},
		{"Ünïcödé", 1, "\uFFFD..."},
		{"e.g. foo! bar? baz", 17, "e.g. foo! bar?"},
	} {
		if got := shorten(tt.text, tt.length); got != tt.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", tt.text, tt.length, got, tt.want)
		}
	}
}

func TestDescriptionsEndAtDashesAndLeaveOutTODOs(t *testing.T) {
	for doc, want := range map[string]string{
		"a\n---b\nc\n":          "a",
		"a\n ---\nc\n":          "a\n ---\nc",
		"A TODO\nTODO(x)\nc\n":  "A TODO\nc",
		"a\n\nTODO x\n\nc\n":    "a\n\n\nc",
		"a\n\nTODO x\n":         "a\n",
		"a\n\n---\nb\n":         "a\n",
		"TODO all of it\n":      "",
		"  indented first\nend": "  indented first\nend",
	} {
		if got := describe(doc); got != want {
			t.Errorf("describe(%q) = %q, want %q", doc, got, want)
		}
	}
}
