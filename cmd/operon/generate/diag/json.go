package diag

import (
	"go/token"
	"path/filepath"
)

// Entry is a mistake as programs read it.
type Entry struct {
	// File is the path, relative where it is below the directory in question; empty for what is about the run as a whole. Line and Column
	// count from 1, Column and Length in bytes.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Length int    `json:"length,omitempty"`
	// Message says what is wrong, and Suggestion what would be right.
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
	// Refused tells that it is the API server that would refuse what comes of the source.
	Refused bool `json:"refused,omitempty"`
}

// Entries returns the mistakes by position, each once. File names below the directory dir are relative to it.
func (l *List) Entries(dir string) []Entry {
	entries := []Entry{}
	for _, m := range l.Sorted() {
		at := shown(m.Pos, dir)
		entries = append(entries, Entry{File: at.Filename, Line: at.Line, Column: at.Column, Length: m.Len, Message: m.What, Suggestion: m.Fix, Refused: m.Refused})
	}
	return entries
}

// shown is a position with a file name for readers in a directory.
func shown(pos token.Position, dir string) token.Position {
	if rel, err := filepath.Rel(dir, pos.Filename); err == nil && filepath.IsLocal(rel) && pos.Filename != "" {
		pos.Filename = rel
	}
	return pos
}
