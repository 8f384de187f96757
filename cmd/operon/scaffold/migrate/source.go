package migrate

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
)

// A source is a Go file that is being changed: its syntax, and the edits of its text.
type source struct {
	text  string
	fset  *token.FileSet
	file  *ast.File
	edits []udiff.Edit
}

func parse(path, text string) (*source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("%w: mend it first, nothing is changed", firstOf(err))
	}
	return &source{text: text, fset: fset, file: file}, nil
}

// A move changes a file, by adding edits to it. It returns the packages that the result imports anew, by path and name.
type move func(*source) (imports map[string]string)

// apply makes some moves, one after the other.
func apply(path, text string, moves ...move) (string, error) {
	formatted, err := format.Source([]byte(text))
	wasFormatted := err == nil && string(formatted) == text
	for _, m := range moves {
		src, err := parse(path, text)
		if err != nil {
			return "", err
		}
		imports := m(src)
		if len(src.edits) == 0 {
			continue
		}
		if text, err = udiff.Apply(text, src.edits); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if text, err = settleImports(text, src.file, imports); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	if wasFormatted {
		formatted, err := format.Source([]byte(text))
		return string(formatted), err
	}
	return text, nil
}

// replace has the text of a node be another.
func (s *source) replace(from, to token.Pos, text string) {
	s.edits = append(s.edits, udiff.Edit{Start: s.offset(from), End: s.offset(to), New: text})
}

// removeLines takes out the lines of a node, with the comment right above it.
func (s *source) removeLines(n ast.Node) {
	start := s.fset.Position(n.Pos()).Line
	for _, group := range s.file.Comments {
		if s.fset.Position(group.End()).Line == start-1 && s.fset.Position(group.Pos()).Column <= s.fset.Position(n.Pos()).Column {
			start = s.fset.Position(group.Pos()).Line
			break
		}
	}
	file := s.fset.File(n.Pos())
	end := s.fset.Position(n.End()).Line + 1
	to := len(s.text)
	if end <= file.LineCount() {
		to = file.Offset(file.LineStart(end))
	}
	from := file.Offset(file.LineStart(start))
	// One empty line is enough where there was one above and one below.
	if strings.HasSuffix(s.text[:from], "\n\n") && strings.HasPrefix(s.text[to:], "\n") {
		to++
	}
	s.edits = append(s.edits, udiff.Edit{Start: from, End: to})
}

// removeElement takes an element out of a composite literal, with its comma.
func (s *source) removeElement(n ast.Node) {
	from, to := s.offset(n.Pos()), s.offset(n.End())
	before := s.text[strings.LastIndexByte(s.text[:from], '\n')+1 : from]
	after, _, _ := strings.Cut(s.text[to:], "\n")
	if strings.TrimSpace(before) == "" && (after == "" || after == ",") {
		s.removeLines(n)
		return
	}
	if strings.HasPrefix(after, ",") {
		to++
	}
	s.edits = append(s.edits, udiff.Edit{Start: from, End: to})
}

func (s *source) offset(pos token.Pos) int { return s.fset.Position(pos).Offset }

// textOf is how a node is written.
func (s *source) textOf(n ast.Node) string { return s.text[s.offset(n.Pos()):s.offset(n.End())] }

// nameOf is the name that a package has in the file, or "" where it is not imported.
func (s *source) nameOf(path string) string {
	for _, spec := range s.file.Imports {
		if spec.Path.Value != strconv.Quote(path) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return defaultName(path)
	}
	return ""
}

// controllerRuntime is the name of the package at the root of controller-runtime.
const controllerRuntime = "controllerruntime"

// defaultName is the name of a package of controller-runtime that is imported without one.
func defaultName(path string) string {
	if path == gomodule.ControllerRuntime {
		return controllerRuntime
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// isOf reports whether a package is of a module. Programs below tools, as setup-envtest, are modules of their own.
func isOf(path, module string) bool {
	return path == module || strings.HasPrefix(path, module+"/") && !strings.HasPrefix(path, module+"/tools/")
}

// moveImports has a file import from Operon what it imports from controller-runtime.
func moveImports(s *source) map[string]string {
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !isOf(path, gomodule.ControllerRuntime) {
			continue
		}
		moved := strconv.Quote(origin.Library + strings.TrimPrefix(path, gomodule.ControllerRuntime))
		if path == gomodule.ControllerRuntime && spec.Name == nil {
			// The package has another name here, and the file knows it by the one that it had.
			moved = controllerRuntime + " " + moved
		}
		s.replace(spec.Path.Pos(), spec.Path.End(), moved)
	}
	return nil
}

// imports reports whether a file imports a module, without reading more of it than that.
func imports(text, module string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return false
	}
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && isOf(path, module) {
			return true
		}
	}
	return false
}
