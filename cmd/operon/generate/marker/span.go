package marker

import (
	"go/token"
	"strings"
)

// Span is a place in the source: Len bytes from Pos on.
type Span struct {
	Pos token.Pos
	Len int
	// args are a marker's arguments as they are written. They end where the span does.
	args string
}

// Places are the places of [Values]: the same keys and the same order.
type Places map[string][]Span

// Argument returns the place of an argument of the marker, with its name: the words to underline when it is wrong. The name is empty for the
// sole argument of a marker. The whole marker is returned where it has no such argument.
func (s Span) Argument(name string) Span {
	from, _, end, ok := findArgument(s.args, name)
	if !ok {
		return s
	}
	return s.part(from, end)
}

// Item returns the place of a word in the value of an argument, such as one of a list, and that of the argument where it has no such word.
func (s Span) Item(argument, word string) Span {
	from, value, end, ok := findArgument(s.args, argument)
	if !ok {
		return s
	}
	for at := value; word != ""; {
		i := strings.Index(s.args[at:end], word)
		if i < 0 {
			break
		}
		at += i
		if separates(s.args, at-1, value) && separates(s.args, at+len(word), end) {
			return s.part(at, at+len(word))
		}
		at++
	}
	return s.part(from, end)
}

// Text returns the place of the text in an argument, without quotes, and whether it stands there as it is meant: every byte of the
// text is one of the place's.
func (s Span) Text(argument, text string) (Span, bool) {
	_, value, end, ok := findArgument(s.args, argument)
	if !ok {
		return s, false
	}
	written := s.args[value:end]
	if len(written) > 1 && (written[0] == '"' || written[0] == '`') && written[len(written)-1] == written[0] {
		value, end = value+1, end-1
	}
	return s.part(value, end), s.args[value:end] == text
}

// From returns the last bytes of the span, from an offset on, and no more than a number of them.
func (s Span) From(offset, length int) Span {
	offset = min(max(offset, 0), s.Len)
	return Span{Pos: s.Pos + token.Pos(offset), Len: min(length, s.Len-offset)}
}

func (s Span) part(from, end int) Span {
	return Span{Pos: s.Pos + token.Pos(s.Len-len(s.args)+from), Len: end - from}
}

// separates tells a byte that a word cannot go on with, and the place before the beginning or behind the end.
func separates(text string, at, bound int) bool {
	return at < 0 || at >= len(text) || at+1 == bound || at == bound || strings.IndexByte(";,{}\"`= ", text[at]) >= 0
}

// findArgument finds an argument in a text: from its name to its end, and where its value begins.
func findArgument(text, name string) (from, value, end int, ok bool) {
	if name == "" {
		return 0, 0, len(text), text != ""
	}
	depth, start, assigned := 0, true, -1
	for pos := 0; ; {
		t := lex(text, pos)
		pos = t.end
		switch {
		case t.kind == tokenEnd || t.kind == ',' && depth == 0:
			if assigned >= 0 && text[from:assigned] == name {
				return from, value, len(strings.TrimRight(text[:t.start], " \t")), true
			}
			if t.kind == tokenEnd {
				return 0, 0, 0, false
			}
			start, assigned = true, -1
			continue
		case start:
			from = t.start
			if next := lex(text, t.end); t.kind == tokenName && next.kind == '=' {
				assigned, pos = t.end, next.end
				value = lex(text, next.end).start
			}
		case t.kind == '{':
			depth++
		case t.kind == '}':
			depth = max(0, depth-1)
		}
		start = false
	}
}
