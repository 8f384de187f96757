package applyconfiguration

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/load"
)

// comments finds the comments of declarations by lines alone: what ends on the line above a name is its comment, be it written behind the field
// before. That is how the generators of Kubernetes read comments.
type comments struct {
	fset   *token.FileSet
	ending map[line]*ast.CommentGroup
	read   map[*load.Package]bool
}

type line struct {
	file   string
	number int
}

func newComments(pkg *load.Package) *comments {
	c := &comments{fset: pkg.Fset(), ending: map[line]*ast.CommentGroup{}, read: map[*load.Package]bool{}}
	c.add(pkg)
	return c
}

// add reads the comments of a package, once.
func (c *comments) add(pkg *load.Package) {
	if c.read[pkg] {
		return
	}
	c.read[pkg] = true
	for _, file := range pkg.Syntax() {
		for _, group := range file.Comments {
			end := c.fset.Position(group.End())
			c.ending[line{end.Filename, end.Line}] = group
		}
	}
}

// above returns the comment that ends so many lines above a position.
func (c *comments) above(pos token.Pos, lines int) *ast.CommentGroup {
	at := c.fset.Position(pos)
	return c.ending[line{at.Filename, at.Line - lines}]
}

// of returns the lines of the comment of a name.
func (c *comments) of(pos token.Pos) []string { return textLines(c.above(pos, 1)) }

// all returns the lines of the comment of a name, after those of the comment before it with a blank line between the two.
func (c *comments) all(pos token.Pos) []string {
	start := pos
	if doc := c.above(pos, 1); doc != nil {
		start = doc.Pos()
	}
	return slices.Concat(textLines(c.above(start, 2)), c.of(pos))
}

// find returns where a line of the comments of a name is, and the position of the name where it is not there.
func (c *comments) find(pos token.Pos, text string) token.Pos {
	start := pos
	if doc := c.above(pos, 1); doc != nil {
		start = doc.Pos()
	}
	for _, group := range []*ast.CommentGroup{c.above(start, 2), c.above(pos, 1)} {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			if i := strings.Index(comment.Text, text); i >= 0 {
				return comment.Pos() + token.Pos(i)
			}
		}
	}
	return pos
}

func textLines(group *ast.CommentGroup) []string {
	text := strings.TrimRight(group.Text(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// prose renders comment lines without the markers among them.
func prose(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if l = strings.TrimSpace(l); !strings.HasPrefix(l, "+") {
			b.WriteString("// " + l + "\n")
		}
	}
	return b.String()
}
