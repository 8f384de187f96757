package marker

import (
	"errors"
	"go/ast"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
)

// Values are the markers of one thing: by name, the arguments of each occurrence in the order of the source.
type Values map[string][]any

// Get returns the arguments of the marker's first occurrence, or nil.
func (v Values) Get(name string) any {
	if len(v[name]) == 0 {
		return nil
	}
	return v[name][0]
}

// Has reports whether the marker is there.
func (v Values) Has(name string) bool { return len(v[name]) > 0 }

// First returns the arguments of the marker's first occurrence.
func First[T any](v Values, name string) (T, bool) {
	t, ok := v.Get(name).(T)
	return t, ok
}

// All returns the arguments of all occurrences of the marker.
func All[T any](v Values, name string) []T {
	var out []T
	for _, value := range v[name] {
		if t, ok := value.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// Type is a type declaration with its markers.
type Type struct {
	Name string
	// Doc is the doc comment without its markers, line by line.
	Doc     string
	Markers Values
	Places  Places
	// Fields are those of a struct.
	Fields  []Field
	Decl    *load.Decl
	Package *load.Package
}

// Field is a field of a struct, with its markers. A declaration of several names is several fields.
type Field struct {
	// Name is empty for an embedded field.
	Name    string
	Doc     string
	Markers Values
	Places  Places
	Tag     reflect.StructTag
	Raw     *ast.Field
}

// Collector reads the markers of packages, each package once.
type Collector struct {
	registry *Registry
	mistakes *diag.List
	known    *Registry
	doubts   *diag.List

	mu       sync.Mutex
	packages map[*load.Package]*collected
}

// collected is what a package's comments came to. Packages that are roots are read as a whole; of others, a file when one of its types
// is asked for.
type collected struct {
	mu     sync.Mutex
	files  map[*ast.File]*commentMap
	pkg    sync.Once
	values Values
	places Places
	types  map[*ast.TypeSpec]*Type
}

// NewCollector returns a collector that reads the markers of a registry.
func NewCollector(r *Registry, mistakes *diag.List) *Collector {
	return &Collector{registry: r, mistakes: mistakes, packages: map[*load.Package]*collected{}}
}

// Doubt makes the collector add markers that nobody knows, and markers in places where nobody looks, to doubts. The registry known tells
// what there is; it may hold more than what the collector reads.
func (c *Collector) Doubt(known *Registry, doubts *diag.List) { c.known, c.doubts = known, doubts }

func (c *Collector) of(p *load.Package) *collected {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.packages[p] == nil {
		c.packages[p] = &collected{files: map[*ast.File]*commentMap{}, types: map[*ast.TypeSpec]*Type{}}
	}
	return c.packages[p]
}

// Package returns the markers of a package.
func (c *Collector) Package(p *load.Package) Values {
	values, _ := c.PackagePlaces(p)
	return values
}

// PackagePlaces returns the markers of a package, and where they are.
func (c *Collector) PackagePlaces(p *load.Package) (Values, Places) {
	col := c.of(p)
	col.pkg.Do(func() {
		r := c.reader(p)
		for _, f := range p.Files() {
			// Package markers are rare outside API packages: most files need no parsing.
			if !p.Root && !f.HasMarkers() {
				continue
			}
			file, _ := f.Syntax(p.Fset())
			if file == nil {
				continue
			}
			col.mu.Lock()
			comments := col.commentsOf(file)
			col.mu.Unlock()
			for _, group := range comments.loose {
				if comments.closest[group] {
					// The type has the first claim to a marker that either could have.
					r.readUnless(group, OnPackage, OnPackage|OnType, OnType)
					continue
				}
				r.read(group, OnPackage, OnPackage)
			}
			for _, group := range comments.docs {
				r.read(group, 0, 0)
			}
		}
		col.values, col.places = r.values, r.places
	})
	return col.values, col.places
}

// Occurrence is one marker of a package, with its place.
type Occurrence struct {
	// Value are the marker's arguments.
	Value any
	Pos   token.Position
	Len   int

	span Span
}

// Argument returns where an argument of the marker stands: see [Span.Argument].
func (o Occurrence) Argument(name string) (token.Position, int) {
	return o.place(o.span.Argument(name))
}

// Item returns where a word in the value of an argument stands: see [Span.Item].
func (o Occurrence) Item(argument, word string) (token.Position, int) {
	return o.place(o.span.Item(argument, word))
}

// place is the position of a part of the marker, which is on the same line.
func (o Occurrence) place(part Span) (token.Position, int) {
	pos, by := o.Pos, int(part.Pos-o.span.Pos)
	pos.Offset += by
	pos.Column += by
	return pos, part.Len
}

// Occurrences returns the markers of a package that have the name, in the order of the source.
func (c *Collector) Occurrences(p *load.Package, name string) []Occurrence {
	values, places := c.PackagePlaces(p)
	var out []Occurrence
	for i, value := range values[name] {
		at := places[name][i]
		out = append(out, Occurrence{Value: value, Pos: p.Fset().Position(at.Pos), Len: at.Len, span: at})
	}
	return out
}

// Types returns the type declarations of a package, in the order of its files.
func (c *Collector) Types(p *load.Package) []*Type {
	var out []*Type
	for _, file := range p.Syntax() {
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					out = append(out, c.typeOf(&load.Decl{Package: p, File: file, Gen: gen, Spec: spec}))
				}
			}
		}
	}
	return out
}

// Type returns the declaration of a type, nil where there is none of that name.
func (c *Collector) Type(p *load.Package, name string) *Type {
	decl := p.Lookup(name)
	if decl == nil {
		return nil
	}
	return c.typeOf(decl)
}

func (c *Collector) typeOf(decl *load.Decl) *Type {
	col := c.of(decl.Package)
	col.mu.Lock()
	defer col.mu.Unlock()
	if t := col.types[decl.Spec]; t != nil {
		return t
	}
	comments := col.commentsOf(decl.File)
	r := c.reader(decl.Package)
	doc := decl.Spec.Doc
	if !decl.Gen.Lparen.IsValid() {
		doc = decl.Gen.Doc
	}
	r.read(comments.before[decl.Spec], OnType, OnType|OnPackage)
	r.read(doc, OnType, OnType)
	if renames(decl) {
		r.doubtAlias(decl.Spec.Name.Name)
	}
	t := &Type{
		Name: decl.Spec.Name.Name, Doc: Text(doc), Markers: r.values, Places: r.places,
		Decl: decl, Package: decl.Package,
	}
	if st, ok := decl.Spec.Type.(*ast.StructType); ok {
		t.Fields = c.fields(decl.Package, comments, st)
	}
	col.types[decl.Spec] = t
	return t
}

// Fields returns the fields of a struct type that is written out where it is used, in a file of the package.
func (c *Collector) Fields(p *load.Package, file *ast.File, st *ast.StructType) []Field {
	col := c.of(p)
	col.mu.Lock()
	defer col.mu.Unlock()
	return c.fields(p, col.commentsOf(file), st)
}

func (c *Collector) fields(p *load.Package, comments *commentMap, st *ast.StructType) []Field {
	var out []Field
	for _, raw := range st.Fields.List {
		r := c.reader(p)
		r.read(comments.before[raw], OnField, OnField)
		r.read(raw.Doc, OnField, OnField)
		r.doubtBehind(raw.Comment)
		f := Field{Doc: Text(raw.Doc), Markers: r.values, Places: r.places, Raw: raw}
		if raw.Tag != nil {
			if tag, err := strconv.Unquote(raw.Tag.Value); err == nil {
				f.Tag = reflect.StructTag(tag)
			}
		}
		if len(raw.Names) == 0 {
			out = append(out, f)
		}
		for _, name := range raw.Names {
			f.Name = name.Name
			out = append(out, f)
		}
	}
	return out
}

func (col *collected) commentsOf(file *ast.File) *commentMap {
	if col.files[file] == nil {
		col.files[file] = mapComments(file)
	}
	return col.files[file]
}

// reader gathers the markers of one thing.
type reader struct {
	c      *Collector
	pkg    *load.Package
	values Values
	places Places
}

func (c *Collector) reader(p *load.Package) *reader {
	return &reader{c: c, pkg: p, values: Values{}, places: Places{}}
}

// read reads the markers of a comment that are defined for the target. Others are doubtful unless they are defined for one of allowed,
// whose reader sees the same comment.
func (r *reader) read(group *ast.CommentGroup, on, allowed Target) {
	r.readUnless(group, on, allowed, 0)
}

// readUnless is read without the markers that are defined for the target claimed.
func (r *reader) readUnless(group *ast.CommentGroup, on, allowed, claimed Target) {
	if group == nil {
		return
	}
	for _, comment := range group.List {
		text, offset, ok := markerText(comment.Text)
		if !ok {
			r.doubtComment(comment)
			continue
		}
		at := comment.Pos() + token.Pos(offset)
		if claimed != 0 {
			if _, _, ok := r.c.registry.Lookup(text, claimed); ok {
				continue
			}
		}
		d, args, ok := r.c.registry.Lookup(text, on)
		if !ok {
			r.doubt(text, at, allowed)
			continue
		}
		value, err := d.Parse(args)
		if err != nil {
			r.mistake(err, text, args, at)
			continue
		}
		r.doubtArgument(d, text, args, at)
		r.values[d.Name] = append(r.values[d.Name], value)
		r.places[d.Name] = append(r.places[d.Name], Span{Pos: at, Len: len(text) + 1, args: args})
	}
}

func (r *reader) mistake(err error, text, args string, at token.Pos) {
	m := diag.Mistake{Pos: r.pkg.Fset().Position(at), Len: len(text) + 1, What: err.Error()}
	var arg *ArgumentError
	if errors.As(err, &arg) {
		m.What, m.Fix = arg.What, arg.Fix
		// An empty argument is a missing one: then the whole marker is at fault.
		if arg.Len > 0 {
			m.Pos = r.pkg.Fset().Position(at + token.Pos(1+len(text)-len(args)+arg.Offset))
			m.Len = arg.Len
		}
	}
	r.c.mistakes.Add(m)
}

// markerText returns the marker on a line comment, without its plus sign, and the offset of the plus sign.
func markerText(comment string) (text string, offset int, ok bool) {
	rest, ok := strings.CutPrefix(comment, "//")
	if !ok {
		return "", 0, false
	}
	trimmed := strings.TrimLeft(rest, " \t")
	if len(trimmed) < 2 || trimmed[0] != '+' {
		return "", 0, false
	}
	return strings.TrimRight(trimmed[1:], " \t\r"), len(comment) - len(trimmed), true
}

// Text is a comment without its markers, line by line.
func Text(group *ast.CommentGroup) string {
	if group == nil {
		return ""
	}
	kept := &ast.CommentGroup{}
	for _, c := range group.List {
		if strings.HasPrefix(c.Text, "/*") {
			c = &ast.Comment{Slash: c.Slash, Text: trimLines(c.Text)}
		}
		if _, _, marker := markerText(c.Text); !marker {
			kept.List = append(kept.List, c)
		}
	}
	return kept.Text()
}

// trimLines drops the indentation in a block comment.
func trimLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(text, "/*")) {
		out.WriteString(strings.TrimLeft(line, " \t"))
	}
	return "/*" + out.String()
}
