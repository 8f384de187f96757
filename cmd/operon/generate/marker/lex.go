package marker

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexeme is a lexical element of a marker's arguments: text[start:end].
type lexeme struct {
	kind       lexemeKind
	start, end int
}

type lexemeKind rune

// Tokens that are not a single character; those are their own kind.
const (
	tokenEnd lexemeKind = -(iota + 1)
	tokenName
	tokenInteger
	tokenFloat
	tokenString
	tokenBroken // a literal without its closing quote
)

// lex returns the first lexeme at or after an offset, past blanks.
func lex(text string, from int) lexeme {
	for from < len(text) && isBlank(text[from]) {
		from++
	}
	if from >= len(text) {
		return lexeme{tokenEnd, len(text), len(text)}
	}
	r, size := utf8.DecodeRuneInString(text[from:])
	switch {
	case r == '_' || unicode.IsLetter(r):
		end := from + strings.IndexFunc(text[from:]+" ", func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		return lexeme{tokenName, from, min(end, len(text))}
	case isDigit(text, from), r == '.' && isDigit(text, from+1):
		return lexNumber(text, from)
	case r == '"' || r == '`':
		return lexString(text, from, byte(r))
	}
	return lexeme{lexemeKind(r), from, from + size}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func isDigit(text string, at int) bool { return at < len(text) && text[at] >= '0' && text[at] <= '9' }

// lexNumber takes digits, a fraction and an exponent. Prefixes such as 0x and digits with underscores stay in the lexeme, so that they are
// refused as a whole.
func lexNumber(text string, from int) lexeme {
	t := lexeme{tokenInteger, from, from}
	if text[from] == '0' && from+2 < len(text) && strings.ContainsRune("xXbBoO", rune(text[from+1])) && isHex(text[from+2]) {
		for t.end = from + 2; t.end < len(text) && isHex(text[t.end]); t.end++ {
		}
		return t
	}
	digits := func() {
		for isDigit(text, t.end) || t.end > from && t.end+1 < len(text) && text[t.end] == '_' && isDigit(text, t.end+1) {
			t.end++
		}
	}
	digits()
	if t.end < len(text) && text[t.end] == '.' {
		t.kind = tokenFloat
		t.end++
		digits()
	}
	if t.end < len(text) && (text[t.end] == 'e' || text[t.end] == 'E') {
		exp := t.end + 1
		if exp < len(text) && (text[exp] == '+' || text[exp] == '-') {
			exp++
		}
		if isDigit(text, exp) {
			t.kind, t.end = tokenFloat, exp
			digits()
		}
	}
	if t.kind == tokenInteger && text[from] == '0' && strings.ContainsAny(text[from:t.end], "89") {
		t.kind = tokenName // neither octal nor decimal: text
	}
	return t
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func lexString(text string, from int, quote byte) lexeme {
	for i := from + 1; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return lexeme{tokenString, from, i + 1}
		case text[i] == '\\' && quote == '"':
			i++
		}
	}
	return lexeme{tokenBroken, from, len(text)}
}
