package conversion

import "fmt"

// methods writes ConvertTo and ConvertFrom of a kind.
func (c *converter) methods(k kind) {
	own, other := c.keptOf(k.from), c.keptOf(k.to)
	c.misplaced(k.from)
	c.misplaced(k.to)
	var ownType, otherType string
	if len(own) > 0 {
		ownType = c.keptType("keptOf"+c.spoken(k.from), own)
	}
	if len(other) > 0 {
		otherType = c.keptType("keptOf"+c.spoken(k.to), other)
	}
	interfaces, hub := c.imports.name(k.conversion), c.source(k.to)
	fmtName := c.imports.name("fmt")

	c.printf("// ConvertTo makes the hub version, %s, of the object. The two may share memory.\n", hub)
	c.printf("func (src *%s) ConvertTo(hub %s.Hub) error {\n", k.name, interfaces)
	c.printf("dst, ok := hub.(*%s)\nif !ok {\nreturn %s.Errorf(%q, hub)\n}\n", hub, fmtName, fmt.Sprintf("%s of %s is converted to *%s, not to %%T", k.name, c.pkg.Name, hub))
	c.printf("*dst = %s{TypeMeta: dst.TypeMeta}\n", hub)
	c.printf("if err := %s(src, dst); err != nil {\nreturn %s\n}\n", c.root(pair{from: k.from, to: k.to, object: true}), c.objectError(k))
	c.keep(c.pkg.Name, ownType, own, k.hub.Name, otherType, other)
	c.printf("return nil\n}\n\n")

	c.printf("// ConvertFrom makes the object from the hub version, %s. The two may share memory.\n", hub)
	c.printf("func (dst *%s) ConvertFrom(hub %s.Hub) error {\n", k.name, interfaces)
	c.printf("src, ok := hub.(*%s)\nif !ok {\nreturn %s.Errorf(%q, hub)\n}\n", hub, fmtName, fmt.Sprintf("%s of %s is converted from *%s, not from %%T", k.name, c.pkg.Name, hub))
	c.printf("*dst = %s{TypeMeta: dst.TypeMeta}\n", k.name)
	c.printf("if err := %s(src, dst); err != nil {\nreturn %s\n}\n", c.root(pair{from: k.to, to: k.from, object: true}), c.objectError(k))
	c.keep(k.hub.Name, otherType, other, c.pkg.Name, ownType, own)
	c.printf("return nil\n}\n\n")
}

// root is the function for a kind, a person's where there is one.
func (c *converter) root(p pair) string {
	v := value{converter: c, from: p.from, to: p.to}
	if fn := v.person(); fn != "" {
		return fn
	}
	return c.want(p)
}

func (c *converter) objectError(k kind) string {
	return fmt.Sprintf("%s.Errorf(%q, src.Namespace, src.Name, err)", c.imports.name("fmt"), k.name+" %s/%s: %w")
}

// keep writes statements that move kept fields between src, dst and the annotations of dst: those of src's version into an annotation, and
// those of dst's version out of theirs.
func (c *converter) keep(from, fromType string, put []kept, to, toType string, take []kept) {
	if len(put) == 0 && len(take) == 0 {
		return
	}
	fmtName, jsonPkg := c.imports.name("fmt"), c.imports.name("encoding/json")
	c.printf("annotations := %s.Clone(src.Annotations)\n", c.imports.name("maps"))
	if len(take) > 0 {
		annotation := annotationPrefix + to
		c.printf("if text, ok := annotations[%q]; ok {\nvar kept %s\n", annotation, toType)
		c.printf("if err := %s.Unmarshal([]byte(text), &kept); err != nil {\nreturn %s.Errorf(%q, src.Namespace, src.Name, err)\n}\n", jsonPkg, fmtName, "%s/%s: annotation "+annotation+": %w")
		for i, k := range take {
			c.printf("%s", k.guarded("dst", fmt.Sprintf("dst%s = kept.F%d\n", k.path, i)))
		}
		c.printf("delete(annotations, %q)\n}\n", annotation)
	}
	if len(put) > 0 {
		annotation := annotationPrefix + from
		c.printf("var keeping %s\n", fromType)
		for i, k := range put {
			c.printf("%s", k.guarded("src", fmt.Sprintf("keeping.F%d = src%s\n", i, k.path)))
		}
		c.printf("data, err := %s.Marshal(keeping)\nif err != nil {\nreturn %s.Errorf(%q, src.Namespace, src.Name, err)\n}\n", jsonPkg, fmtName, "%s/%s: %w")
		c.printf("if string(data) != \"{}\" {\nif annotations == nil {\nannotations = map[string]string{}\n}\nannotations[%q] = string(data)\n} else {\ndelete(annotations, %q)\n}\n", annotation, annotation)
	}
	c.printf("if len(annotations) == 0 {\nannotations = nil\n}\ndst.Annotations = annotations\n")
}
