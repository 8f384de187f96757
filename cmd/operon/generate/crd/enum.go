package crd

import (
	"errors"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// enumOfConstants takes the constants that are declared with the type and a string literal.
func enumOfConstants(c *change, _ none) error {
	var values []string
	for _, file := range c.pkg.Syntax() {
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.CONST {
				values = append(values, constantsOf(gen, c.typ.Name)...)
			}
		}
	}
	if len(values) == 0 {
		return errors.New("+k8s:enum finds no constant that is declared with the type " + c.typ.Name + " and a string")
	}
	slices.Sort(values)
	c.Enum = nil
	for _, v := range slices.Compact(values) {
		c.Enum = append(c.Enum, v)
	}
	return nil
}

func constantsOf(gen *ast.GenDecl, typeName string) []string {
	var values []string
	for _, spec := range gen.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != typeName {
			continue
		}
		for _, value := range v.Values {
			lit, ok := value.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				continue
			}
			if text, err := strconv.Unquote(lit.Value); err == nil {
				values = append(values, text)
			}
		}
	}
	return values
}
