package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// section is a group of markers, or options, in a listing.
type section struct {
	Category string  `json:"category"`
	Markers  []entry `json:"markers"`
}

type entry struct {
	Name       string  `json:"name"`
	Target     string  `json:"target"`
	Summary    string  `json:"summary"`
	Details    string  `json:"details"`
	Category   string  `json:"category"`
	Deprecated *string `json:"deprecatedInFavorOf,omitempty"`
	Fields     []field `json:"fields"`
}

type field struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Optional bool   `json:"optional"`
	Summary  string `json:"summary"`
}

// sections sorts definitions by category; within one, they keep their order.
func sections(defs []marker.Definition) []section {
	var all []section
	for _, d := range defs {
		for _, target := range []marker.Target{marker.OnPackage, marker.OnType, marker.OnField} {
			if d.On&target == 0 {
				continue
			}
			i := slices.IndexFunc(all, func(s section) bool { return s.Category == d.Help.Category })
			if i < 0 {
				i = len(all)
				all = append(all, section{Category: d.Help.Category})
			}
			all[i].Markers = append(all[i].Markers, newEntry(d, target))
		}
	}
	slices.SortStableFunc(all, func(a, b section) int { return strings.Compare(a.Category, b.Category) })
	return all
}

func newEntry(d marker.Definition, target marker.Target) entry {
	e := entry{Name: d.Name, Target: target.String(), Summary: d.Help.Summary, Details: d.Help.Details, Category: d.Help.Category, Fields: []field{}}
	if d.Help.Deprecated != "" {
		e.Deprecated = &d.Help.Deprecated
		e.Summary = "(use " + d.Help.Deprecated + ") " + e.Summary
	}
	for _, a := range d.Arguments() {
		e.Fields = append(e.Fields, field{Name: a.Name, Type: a.Type, Optional: a.Optional, Summary: d.Help.Fields[a.GoName]})
	}
	slices.SortFunc(e.Fields, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return e
}

// list prints sections: on level 1 a line for each marker, on level 2 a line for each argument besides, on level 3 all there
// is to say, and on level 4 that as JSON.
func list(w io.Writer, level int, all []section) error {
	if level >= 4 {
		return json.NewEncoder(w).Encode(all)
	}
	for _, s := range all {
		fmt.Fprintf(w, "\n%s\n\n", s.Category)
		if level == 1 {
			table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			for _, e := range s.Markers {
				fmt.Fprintf(table, "+%s\t%s\t%s\n", e.usage(), e.Target, firstLine(e.Summary))
			}
			if err := table.Flush(); err != nil {
				return err
			}
			continue
		}
		for _, e := range s.Markers {
			if err := e.explain(w, level); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e entry) explain(w io.Writer, level int) error {
	fmt.Fprintf(w, "\n+%s %s\n", e.Name, e.Target)
	if len(e.Fields) == 1 && e.Fields[0].Name == "" {
		fmt.Fprintf(w, "\t=<%s>  %s\n", e.Fields[0].Type, e.Summary)
	} else {
		fmt.Fprintf(w, "\t%s\n", e.Summary)
	}
	if level > 2 && e.Details != "" {
		fmt.Fprintf(w, "\n\t%s\n\n", strings.ReplaceAll(e.Details, "\n", "\n\t"))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range e.Fields {
		if f.Name != "" {
			fmt.Fprintf(table, "\t%s\t%s\n", f.usage(), f.Summary)
		}
	}
	return table.Flush()
}

// usage shows how the marker is written.
func (e entry) usage() string {
	if len(e.Fields) == 1 && e.Fields[0].Name == "" {
		return fmt.Sprintf("%s=<%s>", e.Name, e.Fields[0].Type)
	}
	text := e.Name
	for i, f := range e.Fields {
		separator := ","
		if i == 0 {
			separator = ":"
		}
		argument := fmt.Sprintf("%s%s=<%s>", separator, f.Name, f.Type)
		if f.Optional {
			argument = "[" + argument + "]"
		}
		text += argument
	}
	return text
}

func (f field) usage() string {
	text := fmt.Sprintf("%s=<%s>", f.Name, f.Type)
	if f.Optional {
		return "[" + text + "]"
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
