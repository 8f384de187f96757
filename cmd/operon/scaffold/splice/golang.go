package splice

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/ast/astutil"
)

// AddImport imports a package under a name, before the marker "imports" where there is one. A package that is imported is not
// imported again; the name it has in the file is returned.
func AddImport(src, alias, path string) (edited, name string, err error) {
	_, file, err := parse(src)
	if err != nil {
		return "", "", err
	}
	if name, ok := importName(file, path); ok {
		return src, cmp.Or(name, lastElement(path)), nil
	}
	line := importSpec(alias, path)
	if edited, err = BeforeMarker(src, "imports", line); err != nil {
		return AddImportToGroup(src, alias, path)
	}
	edited, err = Format(setApart(edited, line, path))
	return edited, alias, err
}

// AddImportToGroup is as AddImport, but heeds no marker: the import comes after the last one of the same owner.
func AddImportToGroup(src, alias, path string) (edited, name string, err error) {
	fset, file, err := parse(src)
	if err != nil {
		return "", "", err
	}
	if name, ok := importName(file, path); ok {
		return src, cmp.Or(name, lastElement(path)), nil
	}
	line := importSpec(alias, path)
	lines := strings.Split(src, "\n")
	lines = slices.Insert(lines, importLine(fset, file, path), line)
	edited, err = Format(setApart(strings.Join(lines, "\n"), line, path))
	return edited, alias, err
}

func importSpec(alias, path string) string {
	if alias == lastElement(path) {
		return strconv.Quote(path)
	}
	return alias + " " + strconv.Quote(path)
}

// importLine is the index of the line where an import belongs: after the last of the same owner, or else first if it is of the standard library, and last if not.
func importLine(fset *token.FileSet, file *ast.File, path string) int {
	at := 0
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (owner(imported) == owner(path) || isStandard(imported) && isStandard(path)) {
			at = fset.Position(spec.End()).Line
		}
	}
	if at > 0 {
		return at
	}
	for _, decl := range file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT && gen.Lparen.IsValid() {
			if isStandard(path) {
				return fset.Position(gen.Lparen).Line
			}
			return fset.Position(gen.Rparen).Line - 1
		}
	}
	return fset.Position(file.Name.End()).Line
}

// standard is what import paths of the standard library begin with. A path without a dot can be a module's of one's own, too.
var standard = strings.Fields(`archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar
	flag fmt go hash html image index io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv strings
	structs sync syscall testing text time unicode unique unsafe weak`)

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains(standard, first)
}

// setApart puts an empty line between a new import and its neighbours, where they are not of the same owner.
func setApart(src, line, path string) string {
	lines := strings.Split(src, "\n")
	other := func(i int) bool {
		_, rest, ok := strings.Cut(lines[i], `"`)
		imported := strings.TrimSuffix(rest, `"`)
		return ok && owner(imported) != owner(path) && !(isStandard(imported) && isStandard(path))
	}
	for i := 1; i < len(lines)-1; i++ {
		if strings.TrimSpace(lines[i]) != line {
			continue
		}
		if other(i + 1) {
			lines = slices.Insert(lines, i+1, "")
		}
		if other(i - 1) {
			lines = slices.Insert(lines, i, "")
		}
		break
	}
	return strings.Join(lines, "\n")
}

// owner is the part of an import path that says whose it is.
func owner(path string) string {
	parts := strings.SplitN(path, "/", 3)
	if !strings.Contains(parts[0], ".") {
		return parts[0] // a module of one word
	}
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

// importName is the name that an import of a path has in a file; empty where it has none of its own.
func importName(file *ast.File, path string) (name string, ok bool) {
	for _, spec := range file.Imports {
		if spec.Path.Value == strconv.Quote(path) {
			if spec.Name != nil {
				name = spec.Name.Name
			}
			return name, true
		}
	}
	return "", false
}

// ImportName is the name under which a file knows a package, or false where it doesn't import it.
func ImportName(src, path string) (name string, ok bool) {
	_, file, err := parse(src)
	if err != nil {
		return "", false
	}
	name, ok = importName(file, path)
	if ok && name == "" {
		name = lastElement(path)
	}
	return name, ok
}

// Has reports whether a text is in src, other than at the end of a longer name: "controller.Reconciler{" is not in "shipcontroller.Reconciler{".
func Has(src, text string) bool {
	for at := 0; ; {
		found := strings.Index(src[at:], text)
		if found < 0 {
			return false
		}
		at += found
		before, _ := utf8.DecodeLastRuneInString(src[:at])
		if first, _ := utf8.DecodeRuneInString(text); !partOfName(first) || !partOfName(before) {
			return true
		}
		at += len(text)
	}
}

func partOfName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// RemoveStatement takes out of all functions the statements that have some text in them, as [Has] finds it, with the condition that they are under where nothing
// else is: text such as "controller.MemcachedReconciler{".
func RemoveStatement(src, text string) (string, error) {
	for {
		fset, file, err := parse(src)
		if err != nil {
			return "", err
		}
		var found ast.Stmt
		ast.Inspect(file, func(n ast.Node) bool {
			if body, ok := n.(*ast.BlockStmt); ok && found == nil {
				found = statementWith(fset, src, body.List, text)
			}
			return found == nil
		})
		if found == nil {
			return Format(src)
		}
		lines := strings.SplitAfter(src, "\n")
		start, end := fset.Position(found.Pos()).Line-1, fset.Position(found.End()).Line
		if start > 0 && strings.HasPrefix(strings.TrimSpace(lines[start-1]), "// nolint") {
			start--
		}
		// The empty line that set the statement apart goes with it.
		if start > 0 && end < len(lines) && strings.TrimSpace(lines[start-1]) == "" && strings.TrimSpace(lines[end]) == "" {
			end++
		}
		src = strings.Join(slices.Delete(lines, start, end), "")
	}
}

// statementWith is the outermost statement that has a text and nothing besides, or nil.
func statementWith(fset *token.FileSet, src string, list []ast.Stmt, text string) ast.Stmt {
	for _, stmt := range list {
		if !Has(src[fset.Position(stmt.Pos()).Offset:fset.Position(stmt.End()).Offset], text) {
			continue
		}
		if cond, ok := stmt.(*ast.IfStmt); ok && cond.Init == nil && cond.Else == nil && len(cond.Body.List) > 1 {
			if inner := statementWith(fset, src, cond.Body.List, text); inner != nil {
				return inner
			}
		}
		return stmt
	}
	return nil
}

// RemoveUnusedImport takes out the import of a package if nothing in the file is of it.
func RemoveUnusedImport(src, path string) (string, error) {
	fset, file, err := parse(src)
	if err != nil {
		return "", err
	}
	for _, spec := range file.Imports {
		if spec.Path.Value != strconv.Quote(path) || astutil.UsesImport(file, path) {
			continue
		}
		lines := strings.Split(src, "\n")
		at := fset.Position(spec.Pos()).Line - 1
		return Format(strings.Join(slices.Delete(lines, at, at+1), "\n"))
	}
	return src, nil
}

// AddToDeclaration adds a line above the doc comment of a type, unless the comments above have it. It is for markers.
func AddToDeclaration(src, typeName, comment string) (string, error) {
	fset, file, err := parse(src)
	if err != nil {
		return "", err
	}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE || len(gen.Specs) != 1 || gen.Specs[0].(*ast.TypeSpec).Name.Name != typeName {
			continue
		}
		at := fset.Position(gen.Pos()).Offset
		if gen.Doc != nil {
			at = fset.Position(gen.Doc.Pos()).Offset
			if strings.Contains(src[at:fset.Position(gen.Doc.End()).Offset], comment) {
				return src, nil
			}
		}
		// Markers may stand in a comment of their own, an empty line above the one that documents the type.
		for _, group := range file.Comments {
			end := fset.Position(group.End())
			if end.Line == fset.Position(token.Pos(fset.File(gen.Pos()).Base()+at)).Line-2 {
				start := fset.Position(group.Pos()).Offset
				if strings.Contains(src[start:end.Offset], comment) {
					return src, nil
				}
				if strings.Contains(src[start:end.Offset], "+kubebuilder:") {
					return src[:end.Offset] + "\n" + comment + src[end.Offset:], nil
				}
			}
		}
		return src[:at] + comment + "\n" + src[at:], nil
	}
	return "", fmt.Errorf("there is no type %s", typeName)
}

// Declares reports whether a Go file declares a function, method or type of a name at its top level.
func Declares(src, name string) bool {
	_, file, err := parse(src)
	if err != nil {
		return false
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name {
				return true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Name.Name == name {
					return true
				}
			}
		}
	}
	return false
}

// Format formats a Go file.
func Format(src string) (string, error) {
	out, err := format.Source([]byte(src))
	if err != nil {
		return "", fmt.Errorf("not valid Go: %w", err)
	}
	return string(out), nil
}

func parse(src string) (*token.FileSet, *ast.File, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments)
	if err != nil {
		return nil, nil, fmt.Errorf("not valid Go, mend that first: %w", firstOf(err))
	}
	return fset, file, nil
}

// Valid returns an error unless src is a Go file.
func Valid(src string) error {
	_, _, err := parse(src)
	return err
}

// firstOf is the first of the mistakes that a parser found.
func firstOf(err error) error {
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return list[0]
	}
	return err
}

func lastElement(path string) string { return path[strings.LastIndex(path, "/")+1:] }
