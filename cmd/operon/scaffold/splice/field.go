package splice

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// AddField adds a field, as in "Name: value", to the struct that is written out in the call of a function or method of some package.
func AddField(src, function, field string) (string, error) {
	fset, file, err := parse(src)
	if err != nil {
		return "", err
	}
	at := 0
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || at > 0 {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || sel.Sel.Name != function {
			return true
		}
		for _, arg := range call.Args {
			if literal, ok := arg.(*ast.CompositeLit); ok {
				at = fset.Position(literal.Lbrace).Offset + 1
			}
		}
		return true
	})
	if at == 0 {
		return "", fmt.Errorf("no call of %s has its options written out, so none can be added: write %q where they are made, and try again", function, field)
	}
	return Format(src[:at] + "\n" + field + "," + src[at:])
}

// RemoveField takes out what AddField added.
func RemoveField(src, field string) (string, error) {
	name, value, _ := strings.Cut(field, ": ")
	line := regexp.MustCompile(`\n[ \t]*` + regexp.QuoteMeta(name) + `:[ \t]*` + regexp.QuoteMeta(value) + ",?")
	return Format(line.ReplaceAllString(src, ""))
}
