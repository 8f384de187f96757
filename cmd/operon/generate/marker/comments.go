package marker

import (
	"go/ast"
	"go/token"
	"slices"
)

// commentMap tells which comments of a file belong to what.
type commentMap struct {
	// before is the last comment before the doc comment of a type or field.
	before map[ast.Node]*ast.CommentGroup
	// closest are the values of before for types.
	closest map[*ast.CommentGroup]bool
	// loose are the comments that stand alone between declarations, and the package's doc comment.
	loose []*ast.CommentGroup
	// docs are the doc comments of functions, constants and the like.
	docs []*ast.CommentGroup
}

func mapComments(file *ast.File) *commentMap {
	m := &commentMap{before: map[ast.Node]*ast.CommentGroup{}, closest: map[*ast.CommentGroup]bool{}}
	groups := file.Comments
	// next consumes the comments up to a position.
	next := func(end token.Pos) []*ast.CommentGroup {
		n := 0
		for n < len(groups) && groups[n].Pos() < end {
			n++
		}
		taken := groups[:n]
		groups = groups[n:]
		return taken
	}
	for _, decl := range file.Decls {
		doc := docOf(decl)
		start := decl.Pos()
		if doc != nil {
			start = doc.Pos()
		}
		loose := next(start)
		m.loose = append(m.loose, loose...)
		inside := next(decl.End())
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			if doc != nil {
				m.docs = append(m.docs, doc)
			}
			continue
		}
		if gen.Lparen.IsValid() {
			if doc != nil {
				m.docs = append(m.docs, doc)
			}
			m.mapGroup(gen, inside)
			continue
		}
		spec := gen.Specs[0]
		// What is above the package clause is about the package.
		if n := len(loose); n > 0 && loose[n-1].Pos() > file.Package {
			m.setClosest(spec, loose[n-1])
		}
		m.mapFields(spec, inside)
	}
	m.loose = append(m.loose, groups...)
	return m
}

func (m *commentMap) setClosest(spec ast.Spec, group *ast.CommentGroup) {
	m.before[spec] = group
	m.closest[group] = true
}

func docOf(decl ast.Decl) *ast.CommentGroup {
	switch d := decl.(type) {
	case *ast.GenDecl:
		return d.Doc
	case *ast.FuncDecl:
		return d.Doc
	}
	return nil
}

// mapGroup maps the comments within "type ( ... )".
func (m *commentMap) mapGroup(gen *ast.GenDecl, inside []*ast.CommentGroup) {
	previous := gen.Lparen
	for _, spec := range gen.Specs {
		start := spec.Pos()
		if t, ok := spec.(*ast.TypeSpec); ok && t.Doc != nil {
			start = t.Doc.Pos()
		}
		if group := lastBetween(inside, previous, start); group != nil {
			m.setClosest(spec, group)
		}
		m.mapFields(spec, inside)
		previous = spec.End()
	}
}

// mapFields maps the comments within structs, at any depth.
func (m *commentMap) mapFields(node ast.Node, inside []*ast.CommentGroup) {
	if len(inside) == 0 {
		return
	}
	ast.Inspect(node, func(n ast.Node) bool {
		st, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		previous := st.Fields.Opening
		for _, field := range st.Fields.List {
			start := field.Pos()
			if field.Doc != nil {
				start = field.Doc.Pos()
			}
			if group := lastBetween(inside, previous, start); group != nil {
				m.before[field] = group
			}
			previous = field.End()
			if field.Comment != nil {
				previous = field.Comment.End()
			}
		}
		return true
	})
}

// lastBetween returns the last comment that lies between two positions.
func lastBetween(groups []*ast.CommentGroup, after, before token.Pos) *ast.CommentGroup {
	end, _ := slices.BinarySearchFunc(groups, before, func(g *ast.CommentGroup, pos token.Pos) int { return int(g.Pos() - pos) })
	if end > 0 && groups[end-1].Pos() > after {
		return groups[end-1]
	}
	return nil
}
