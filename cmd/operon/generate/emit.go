package generate

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v2"
)

// emitter writes a tree as go.yaml.in/yaml/v2 does, in a quarter of its time: definitions are megabytes of nothing but block maps, lists and text. What
// it leaves to the library it says with errOdd.
type emitter struct {
	out []byte
	// column is how many characters the line has; blank tells that they are indentation only, so that a key may follow.
	column int
	blank  bool
}

// errOdd says that a tree is none of those that an emitter writes.
var errOdd = errors.New("not an ordinary tree")

const (
	// indentation is that of a map in a map.
	indentation = 2
	// fullLine is the column from which on text continues on the next line.
	fullLine = 80
	// longestKey is the length in bytes of the longest key that is written as one.
	longestKey = 128
)

// document returns a tree as a document.
func document(tree map[string]any) ([]byte, error) {
	e := &emitter{blank: true, out: make([]byte, 0, 16<<10)}
	if err := e.entries(tree, 0); err != nil {
		return nil, err
	}
	e.line(0)
	return e.out, nil
}

// line goes to an indentation, on a new line unless nothing else is in this one.
func (e *emitter) line(indent int) {
	if !e.blank || e.column > indent {
		e.feed()
	}
	for ; e.column < indent; e.column++ {
		e.out = append(e.out, ' ')
	}
}

func (e *emitter) feed() { e.out, e.column, e.blank = append(e.out, '\n'), 0, true }

// put writes characters; width is how many there are.
func (e *emitter) put(text string, width int) {
	e.out, e.column, e.blank = append(e.out, text...), e.column+width, false
}

// entries writes a map's, each at an indentation.
func (e *emitter) entries(all map[string]any, indent int) error {
	if len(all) == 0 {
		return errOdd // as a document
	}
	return entries(e, all, indent, e.value)
}

func entries[T any](e *emitter, all map[string]T, indent int, value func(T, int, bool) error) error {
	for _, key := range slices.SortedFunc(maps.Keys(all), byKey) {
		e.line(indent)
		if err := e.key(key); err != nil {
			return err
		}
		e.put(":", 1)
		if err := value(all[key], indent, false); err != nil {
			return err
		}
	}
	return nil
}

// elements writes those of a list.
func elements[T any](e *emitter, list []T, indent int, value func(T, int, bool) error) error {
	for _, v := range list {
		e.line(indent)
		e.put("-", 1)
		if err := value(v, indent, true); err != nil {
			return err
		}
	}
	return nil
}

// value writes a value of a map or list at an indentation, behind its key or dash.
func (e *emitter) value(v any, indent int, inList bool) error {
	within := func(n int, brackets string, write func(indent int) error) error {
		inner := indent + indentation
		switch {
		case n == 0:
			e.put(brackets, 3)
			return nil
		case inList: // begins in the line of the dash
			e.out, e.column, e.blank = append(e.out, ' '), e.column+1, true
		case brackets == " []": // is not indented in a map
			inner = indent
		}
		return write(inner)
	}
	switch v := v.(type) {
	case map[string]any:
		return within(len(v), " {}", func(indent int) error { return entries(e, v, indent, e.value) })
	case map[string]string:
		return within(len(v), " {}", func(indent int) error { return entries(e, v, indent, e.text) })
	case []any:
		return within(len(v), " []", func(indent int) error { return elements(e, v, indent, e.value) })
	case []string:
		return within(len(v), " []", func(indent int) error { return elements(e, v, indent, e.text) })
	case string:
		return e.text(v, indent, inList)
	case float64, json.Number:
		switch n := Plain(v).(type) {
		case int64:
			e.plain(strconv.FormatInt(n, 10))
		case float64:
			e.plain(strconv.FormatFloat(n, 'g', -1, 64))
		default:
			return errOdd
		}
	case int:
		e.plain(strconv.Itoa(v))
	case int32:
		e.plain(strconv.Itoa(int(v)))
	case int64:
		e.plain(strconv.FormatInt(v, 10))
	case bool:
		e.plain(strconv.FormatBool(v))
	case nil:
		e.plain("null")
	default:
		tree := Plain(v)
		switch tree.(type) {
		case map[string]any, []any, string, int64, float64, bool, nil:
			return e.value(tree, indent, inList)
		}
		return errOdd
	}
	return nil
}

// plain writes a scalar that needs no quotes and has no blanks.
func (e *emitter) plain(scalar string) {
	e.put(" ", 1)
	e.put(scalar, len(scalar))
}

// key writes a key.
func (e *emitter) key(key string) error {
	s, ok := read(key)
	if !ok || s.lines || len(key) > longestKey || !utf8.ValidString(key) {
		return errOdd
	}
	switch {
	case s.special || !plainWord(key):
		e.quoted(key, unfolded)
	case s.quotes || s.edges:
		e.single(key, unfolded)
	default:
		e.put(key, s.width)
	}
	return nil
}

// unfolded is the indentation of a line that is not to be folded.
const unfolded = -1

// text writes text, in the style that the library has for it.
func (e *emitter) text(text string, indent int, _ bool) error {
	if !utf8.ValidString(text) {
		text = Plain(text).(string)
	}
	s, ok := read(text)
	if !ok {
		return errOdd
	}
	e.put(" ", 1)
	indent += indentation
	switch {
	case s.lines && !s.special && !s.trailing && !s.ragged:
		e.literal(text, indent)
	case s.lines || s.special || !plainWord(text):
		e.quoted(text, indent)
	case s.quotes || s.edges:
		e.single(text, indent)
	case e.column+s.width <= fullLine:
		e.put(text, s.width)
	default:
		e.folded(text, indent)
	}
	return nil
}

// folded writes text whose lines may end at single blanks.
func (e *emitter) folded(text string, indent int) {
	for i := 0; i < len(text); {
		if text[i] != ' ' {
			end := len(text)
			if n := strings.IndexByte(text[i:], ' '); n >= 0 {
				end = i + n
			}
			e.put(text[i:end], utf8.RuneCountInString(text[i:end]))
			i = end
			continue
		}
		end := i
		for end < len(text) && text[end] == ' ' {
			end++
		}
		if indent != unfolded && e.column > fullLine && end == i+1 && i > 0 && end < len(text) {
			e.line(indent)
		} else {
			e.put(text[i:end], end-i)
		}
		i = end
	}
}

// single writes text in single quotes.
func (e *emitter) single(text string, indent int) {
	e.put("'", 1)
	e.folded(strings.ReplaceAll(text, "'", "''"), indent)
	e.put("'", 1)
}

// quoted writes text in double quotes.
func (e *emitter) quoted(text string, indent int) {
	e.put(`"`, 1)
	blanks := false
	for i, r := range text {
		if r == ' ' {
			if indent != unfolded && !blanks && e.column > fullLine && i > 0 && i < len(text)-1 {
				e.line(indent)
				if text[i+1] == ' ' {
					e.put(`\`, 1)
				}
			} else {
				e.put(" ", 1)
			}
			blanks = true
			continue
		}
		blanks = false
		switch escape, ok := escapes[r]; {
		case ok:
			e.put(escape, len(escape))
		case r < ' ' || r == 0x7f:
			const digits = "0123456789ABCDEF"
			e.put(`\x`+digits[r>>4:r>>4+1]+digits[r&15:r&15+1], 4)
		default:
			e.put(string(r), 1)
		}
	}
	e.put(`"`, 1)
}

var escapes = map[rune]string{
	0: `\0`, '\a': `\a`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\v': `\v`, '\f': `\f`, 0x1b: `\e`, '"': `\"`, '\\': `\\`,
}

// literal writes lines as they are.
func (e *emitter) literal(text string, indent int) {
	e.put("|", 1)
	if text[0] == ' ' || text[0] == '\n' {
		e.put("2", 1)
	}
	switch {
	case text[len(text)-1] != '\n':
		e.put("-", 1)
	case len(text) == 1 || text[len(text)-2] == '\n':
		e.put("+", 1)
	}
	e.feed()
	for line := range strings.Lines(text) {
		content, ended := strings.CutSuffix(line, "\n")
		if content != "" {
			e.line(indent)
			e.put(content, utf8.RuneCountInString(content))
		}
		if ended {
			e.feed()
		}
	}
}

// shape is what there is in text that decides on its style.
type shape struct {
	// width is how many characters there are.
	width int
	// lines tells that there is more than one, special that a character cannot be written as it is.
	lines, special bool
	// edges tells that text begins or ends with a blank, trailing that it ends so, and ragged that a line within does.
	edges, trailing, ragged bool
	// quotes tells that plain text would be read as something else.
	quotes bool
}

// read tells the shape of text; false for what is left to the library.
func read(text string) (s shape, ok bool) {
	if text == "" {
		return s, true
	}
	switch text[0] {
	case '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		s.quotes = true
	case '?', ':', '-':
		s.quotes = len(text) == 1 || text[1] == ' ' || text[1] == '\t' || strings.HasPrefix(text, "---")
	case '.':
		s.quotes = strings.HasPrefix(text, "...")
	}
	s.trailing = text[len(text)-1] == ' '
	s.edges = s.trailing || text[0] == ' '
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			s.lines = true
			s.ragged = s.ragged || i > 0 && text[i-1] == ' '
		case c == ':':
			s.quotes = s.quotes || i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t'
		case c == '#':
			s.quotes = s.quotes || i > 0 && (text[i-1] == ' ' || text[i-1] == '\t' || text[i-1] == '\n')
		case c == '\r':
			return s, false
		case c < ' ' || c == 0x7f:
			s.special = true
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[i:])
			// Other line breaks, and what is not written as it is.
			if r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r > '\ufffd' {
				return s, false
			}
			i += size - 1
		}
		s.width++
	}
	return s, true
}

// plainWord tells that text without quotes is not read as a number, a time or one of the words for truth and nothing.
func plainWord(text string) bool {
	if text == "" {
		return false
	}
	switch text[0] {
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		out, err := yaml.Marshal(text)
		return err == nil && out[0] != '"'
	case '~':
		return text != "~"
	case 'y', 'Y', 'n', 'N', 't', 'T', 'f', 'F', 'o', 'O':
		return len(text) > len("false") || !slices.Contains(words, text)
	}
	return true
}

var words = []string{
	"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON",
	"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", "null", "Null", "NULL",
}

// byKey compares keys as the library sorts them: letters behind all else, and numbers by their value.
func byKey(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return cmp.Compare(len(a), len(b))
	}
	for i > 0 && !utf8.RuneStart(a[i]) {
		i--
	}
	ra, _ := utf8.DecodeRuneInString(a[i:])
	rb, _ := utf8.DecodeRuneInString(b[i:])
	la, lb := unicode.IsLetter(ra), unicode.IsLetter(rb)
	switch {
	case la && lb:
		return cmp.Compare(ra, rb)
	case la:
		return 1
	case lb:
		return -1
	}
	more := (ra == '0' || rb == '0') && continues(a[:i])
	na, nb := number(a, i, more), number(b, i, more)
	return cmp.Or(cmp.Compare(na.value, nb.value), cmp.Compare(na.digits, nb.digits), cmp.Compare(ra, rb))
}

// continues tells that a zero after this is part of a number greater than zero.
func continues(before string) bool {
	for before != "" {
		r, size := utf8.DecodeLastRuneInString(before)
		if !unicode.IsDigit(r) {
			return false
		}
		if r != '0' {
			return true
		}
		before = before[:len(before)-size]
	}
	return false
}

type digits struct {
	value  int64
	digits int
}

// number is what follows an offset of a key as one; more tells that digits before belong to it.
func number(key string, at int, more bool) (n digits) {
	if more {
		n.value = 1
	}
	for _, r := range key[at:] {
		if !unicode.IsDigit(r) {
			break
		}
		n.value, n.digits = n.value*10+int64(r-'0'), n.digits+1
	}
	return n
}
