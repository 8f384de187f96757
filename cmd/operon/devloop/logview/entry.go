package logview

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// A field is a key of an entry and its value, as JSON.
type field struct {
	key   string
	value json.RawMessage
}

// An entry is one structured log line.
type entry struct {
	time                   time.Time
	level, logger, message string
	fields                 []field // in the order of the line
}

// parse reads a line without its end. It reports whether the line is an entry.
func parse(line []byte) (entry, bool) {
	if bytes.HasPrefix(line, []byte("{")) {
		return parseJSON(line)
	}
	return parseConsole(string(line))
}

// parseJSON reads zap's JSON encoding: the message is what makes an object an entry.
func parseJSON(line []byte) (entry, bool) {
	fields, ok := object(line)
	if !ok {
		return entry{}, false
	}
	var e entry
	hasMessage := false
	for _, f := range fields {
		switch f.key {
		case "ts", "time", "timestamp":
			e.time = moment(f.value)
		case "level", "severity":
			e.level = text(f.value)
		case "logger":
			e.logger = text(f.value)
		case "msg", "message":
			e.message, hasMessage = text(f.value), true
		default:
			e.fields = append(e.fields, f)
		}
	}
	return e, hasMessage
}

// parseConsole reads zap's console encoding: time, level, logger where there is one, caller where there is one, message, and the
// fields as a JSON object where there are some, with tabs between.
func parseConsole(line string) (entry, bool) {
	parts := strings.Split(line, "\t")
	if len(parts) < 3 {
		return entry{}, false
	}
	at, err := time.Parse(time.RFC3339, parts[0])
	if err != nil {
		return entry{}, false
	}
	e := entry{time: at, level: parts[1]}
	parts = parts[2:]
	if last := parts[len(parts)-1]; len(parts) > 1 && strings.HasPrefix(last, "{") {
		if fields, ok := object([]byte(last)); ok {
			e.fields, parts = fields, parts[:len(parts)-1]
		}
	}
	e.message = parts[len(parts)-1]
	e.logger = strings.Join(parts[:len(parts)-1], " ")
	return e, true
}

// object reads a JSON object with its keys in order.
func object(data []byte) ([]field, bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if t, err := decoder.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var fields []field
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		f := field{key: key.(string)} // a key of an object is a string
		if err := decoder.Decode(&f.value); err != nil {
			return nil, false
		}
		fields = append(fields, f)
	}
	if _, err := decoder.Token(); err != nil || decoder.InputOffset() != int64(len(data)) {
		return nil, false
	}
	return fields, true
}

// text returns a JSON string's content, and other values as they are written.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// moment reads a time as zap writes it: RFC 3339, or seconds since 1970.
func moment(value json.RawMessage) time.Time {
	var seconds float64
	if json.Unmarshal(value, &seconds) == nil {
		return time.UnixMicro(int64(math.Round(seconds * 1e6))) // what a float64 can tell apart
	}
	at, err := time.Parse(time.RFC3339, text(value))
	if err != nil {
		return time.Time{}
	}
	return at
}
