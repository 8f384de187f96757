package splice

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// AddToChain adds a call, as in WithDefaulter(x), to the chain of calls in a function that Complete ends, unless a call of that method is there.
func AddToChain(src, function, call string) (string, error) {
	body, end, err := chainEnd(src, function)
	if err != nil {
		return "", err
	}
	method, _, _ := strings.Cut(call, "(")
	if regexp.MustCompile(`\b` + regexp.QuoteMeta(method) + `\(`).MatchString(body) {
		return src, nil
	}
	return Format(src[:end] + call + ".\n" + src[end:])
}

// chainEnd is the text of a function, and where in the file its call of Complete is.
func chainEnd(src, function string) (body string, end int, err error) {
	fset, file, err := parse(src)
	if err != nil {
		return "", 0, err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name != function || f.Body == nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Complete" {
				end = fset.Position(sel.Sel.Pos()).Offset
			}
			return true
		})
		if end > 0 {
			return src[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset], end, nil
		}
	}
	return "", 0, fmt.Errorf("there is no func %s that ends a chain of calls with Complete(): write one that does, as operon create webhook makes it for a new kind", function)
}
