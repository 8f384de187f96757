package load

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
)

// File is one Go source file of a package.
type File struct {
	// Name is the file's absolute path.
	Name string
	// Data is its content.
	Data []byte

	parse  sync.Once
	parsed atomic.Bool
	syntax *ast.File
	err    error

	typesOnce sync.Once
	types     map[string]*Decl

	index sync.Once
	names fileNames
}

// fileNames are the package-level names of a file, as far as they show without parsing it.
type fileNames struct {
	// types and objects hold the names of types, and of constants, variables and functions.
	types, objects map[string]bool
	// methods holds the receiver types of the kept methods.
	methods map[string]bool
}

// Syntax parses the file, with comments, on first use. It is nil only where not even a package clause can be read.
func (f *File) Syntax(fset *token.FileSet) (*ast.File, error) {
	f.parse.Do(func() {
		f.syntax, f.err = parser.ParseFile(fset, f.Name, f.Data, parser.ParseComments|parser.SkipObjectResolution|parser.AllErrors)
		f.parsed.Store(true)
	})
	return f.syntax, f.err
}

// scan finds declarations by their keywords at the start of a line, where gofmt puts them, and the names in a group by their
// indentation. What looks like a declaration but is part of a literal only costs a needless parse.
func (f *File) scan() *fileNames {
	f.index.Do(func() {
		f.names = fileNames{types: map[string]bool{}, objects: map[string]bool{}, methods: map[string]bool{}}
		for rest := range linesAfter(f.Data, "type") {
			addNames(f.names.types, rest)
		}
		for _, keyword := range []string{"const", "var"} {
			for rest := range linesAfter(f.Data, keyword) {
				addNames(f.names.objects, rest)
			}
		}
		for rest := range linesAfter(f.Data, "func") {
			if rest[0] != '(' {
				f.names.objects[identifier(rest)] = true
			} else if receiver, method := methodName(rest); KeptMethods[method] {
				f.names.methods[receiver] = true
			}
		}
	})
	return &f.names
}

// linesAfter yields the rest of the file after keyword and blanks, for each line that begins with it.
func linesAfter(data []byte, keyword string) iter.Seq[[]byte] {
	needle := []byte("\n" + keyword)
	return func(yield func([]byte) bool) {
		for {
			i := bytes.Index(data, needle)
			if i < 0 {
				return
			}
			data = data[i+len(needle):]
			rest := bytes.TrimLeft(data, " \t")
			if len(rest) > 0 && (len(rest) < len(data) || rest[0] == '(') && !yield(rest) {
				return
			}
		}
	}
}

// addNames adds the name at the start of rest, or those of the group that opens there.
func addNames(names map[string]bool, rest []byte) {
	if rest[0] != '(' {
		addList(names, rest)
		return
	}
	for rest = rest[1:]; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 || i+1 == len(rest) || rest[i+1] == ')' {
			return
		}
		rest = rest[i+1:]
		addList(names, bytes.TrimLeft(rest, " \t"))
	}
}

// addList adds the names of "A, B = 1, 2".
func addList(names map[string]bool, rest []byte) {
	for {
		name := identifier(rest)
		if name == "" {
			return
		}
		names[name] = true
		rest = bytes.TrimLeft(rest[len(name):], " ")
		if len(rest) == 0 || rest[0] != ',' {
			return
		}
		rest = bytes.TrimLeft(rest[1:], " ")
	}
}

// methodName splits "(r *T[P]) Name(..." into T and Name.
func methodName(rest []byte) (receiver, method string) {
	if rest[0] != '(' {
		return "", ""
	}
	end := bytes.IndexByte(rest, ')')
	if end < 0 {
		return "", ""
	}
	method = identifier(bytes.TrimLeft(rest[end+1:], " \t"))
	recv := bytes.TrimSpace(rest[1:end])
	if i := bytes.IndexByte(recv, '['); i >= 0 {
		recv = bytes.TrimSpace(recv[:i])
	}
	if i := bytes.LastIndexAny(recv, " \t*"); i >= 0 {
		recv = recv[i+1:]
	}
	return string(recv), method
}

func identifier(b []byte) string {
	end := bytes.IndexFunc(b, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r < 0x80
	})
	if end < 0 {
		return string(b)
	}
	return string(b[:end])
}

// importPath is the path that an import declares, "" where its literal is broken.
func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return path
}

// HasMarkers reports whether the file may contain a marker: a comment line that begins with a plus sign.
func (f *File) HasMarkers() bool {
	return bytes.Contains(f.Data, []byte("// +")) || bytes.Contains(f.Data, []byte("//+")) || bytes.Contains(f.Data, []byte("//\t+")) ||
		bytes.Contains(f.Data, []byte("//  +"))
}
