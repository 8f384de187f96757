package logview

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The colours of a terminal, by what they are for.
const (
	plain  = "\x1b[0m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

// A Writer passes on what is written to it, line by line, entries in their readable form. It is for one goroutine.
type Writer struct {
	out    io.Writer
	colour bool
	rest   []byte // a line whose end has not come yet
}

// NewWriter returns a Writer to out, with colours or without.
func NewWriter(out io.Writer, colour bool) *Writer { return &Writer{out: out, colour: colour} }

// Write takes the next part of the log. It returns the errors of the writer beneath.
func (w *Writer) Write(p []byte) (int, error) {
	var ready bytes.Buffer
	w.rest = append(w.rest, p...)
	for {
		line, rest, ended := bytes.Cut(w.rest, []byte("\n"))
		if !ended {
			break
		}
		w.line(&ready, line)
		w.rest = rest
	}
	w.rest = slices.Clone(w.rest) // lets go of the lines that are done
	if ready.Len() == 0 {
		return len(p), nil
	}
	_, err := w.out.Write(ready.Bytes())
	return len(p), err
}

// Flush writes a last line that had no end. The log goes on after it.
func (w *Writer) Flush() error {
	if len(w.rest) == 0 {
		return nil
	}
	var ready bytes.Buffer
	w.line(&ready, w.rest)
	w.rest = nil
	_, err := w.out.Write(ready.Bytes())
	return err
}

func (w *Writer) line(out *bytes.Buffer, line []byte) {
	e, ok := parse(bytes.TrimSuffix(line, []byte("\r")))
	if !ok {
		out.Write(line)
		out.WriteByte('\n')
		return
	}
	at := "--:--:--"
	switch {
	case e.time.IsZero():
	case e.time.Nanosecond() == 0: // zap's console encoding has no more
		at = e.time.Local().Format("15:04:05")
	default:
		at = e.time.Local().Format("15:04:05.000")
	}
	w.paint(out, dim, at)
	level := strings.ToUpper(e.level)
	out.WriteByte(' ')
	w.paint(out, levelColour(level), level+strings.Repeat(" ", max(0, len("ERROR")-len(level))))

	s := brief(e)
	for _, part := range []struct{ colour, text string }{{cyan, s.who}, {dim, s.logger}} {
		if part.text != "" {
			out.WriteByte(' ')
			w.paint(out, part.colour, part.text)
		}
	}
	out.WriteByte(' ')
	out.WriteString(e.message)
	for _, f := range s.fields {
		out.WriteByte(' ')
		colour := dim
		if f.key == "error" {
			colour = red
		}
		w.paint(out, colour, f.key+"=")
		out.WriteString(value(f.value))
	}
	if s.id != "" {
		out.WriteByte(' ')
		w.paint(out, dim, "#"+s.id)
	}
	out.WriteByte('\n')
	for stack := range strings.Lines(s.stack) {
		out.WriteString("    ")
		w.paint(out, dim, strings.TrimSuffix(stack, "\n"))
		out.WriteByte('\n')
	}
}

func (w *Writer) paint(out *bytes.Buffer, colour, text string) {
	if !w.colour || colour == "" {
		out.WriteString(text)
		return
	}
	out.WriteString(colour + text + plain)
}

func levelColour(level string) string {
	switch level {
	case "ERROR", "DPANIC", "PANIC", "FATAL":
		return red
	case "WARN", "WARNING":
		return yellow
	}
	return dim
}

// A summary is what a line shows of an entry besides time, level and message.
type summary struct {
	who    string // the kind and name of what is reconciled
	logger string
	fields []field
	id     string // of the reconcile, shortened
	stack  string
}

// idLength is how much of a reconcileID tells the reconciles of one afternoon apart.
const idLength = 8

// brief says once what the fields of a reconcile's log lines say several times: controllerKind, an object under that kind's name, and its
// namespace and name again.
func brief(e entry) summary {
	s := summary{logger: e.logger}
	find := func(key string) string {
		for _, f := range e.fields {
			if f.key == key {
				return text(f.value)
			}
		}
		return ""
	}
	kind, name := find("controllerKind"), find("name")
	repeated := []string{"controllerGroup", "controllerKind", "namespace", "name"}
	if kind != "" && name != "" {
		s.who = kind + " " + strings.TrimPrefix(find("namespace")+"/"+name, "/")
		repeated = append(repeated, kind, "controller")
	} else if kind != "" {
		s.who = kind
		repeated = []string{"controllerGroup", "controllerKind", "controller"}
	} else {
		repeated = nil
	}
	for _, f := range e.fields {
		switch {
		case slices.Contains(repeated, f.key):
		case f.key == "reconcileID":
			s.id = text(f.value)
			s.id = s.id[:min(len(s.id), idLength)]
		case f.key == "stacktrace":
			s.stack = text(f.value)
		default:
			s.fields = append(s.fields, f)
		}
	}
	return s
}

// value writes a field's value: text bare where nothing can be mistaken, the name of an object, and anything else as JSON.
func value(raw json.RawMessage) string {
	var reference struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if bytes.HasPrefix(raw, []byte("{")) && decoder.Decode(&reference) == nil && reference.Name != "" {
		return strings.TrimPrefix(reference.Namespace+"/"+reference.Name, "/")
	}
	var s string
	if !bytes.HasPrefix(raw, []byte(`"`)) || json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	if s == "" || strings.ContainsAny(s, " =\"\t\n\x1b") {
		return strconv.Quote(s)
	}
	return s
}
