package applyconfiguration

import (
	"slices"
	"strings"
)

// writer writes the file of one configuration.
type writer struct {
	*api
	*file
	of *declared
	// name is that of the configuration.
	name string
	// set are the fields that have a function already, of whatever embedded struct: the outermost counts.
	set []string
}

// embedding is the embedded struct that a field comes from.
type embedding struct {
	shape  *shape // as the configuration embeds it
	inline bool
}

func (w *writer) write() {
	w.structure()
	w.constructor()
	if w.of.tags.client || embeds(w.of.shape, typeMeta) {
		w.printf("\nfunc (b %s) IsApplyConfiguration() {}\n", w.name)
	}
	w.setters(w.of.shape, nil)
	w.getters(w.of.shape, nil)
}

func (w *writer) structure() {
	w.printf("// %s represents a declarative configuration of the %s type for use\n// with apply.\n", w.name, upperFirst(w.of.name()))
	if text := prose(w.comments.all(w.of.pos)); text != "" {
		w.printf("//\n%s", text)
	}
	w.printf("type %s struct {\n", w.name)
	for _, f := range fieldsOf(w.of.shape) {
		if f.pkg != w.pkg.Path {
			// The type is made from a struct of another package.
			if pkg, err := w.pkg.Import(f.pkg); err == nil {
				w.comments.add(pkg)
			}
		}
		w.printf("%s", prose(w.comments.of(f.pos)))
		typ := w.configuration(f.shape).source(w.imports)
		switch {
		case f.embedded && f.tag.inline:
		case f.embedded:
			typ = "*" + typ
		case f.shape.nillable():
			typ = f.name + " " + typ
		default:
			typ = f.name + " *" + typ
		}
		w.printf("%s `json:\"%s\"`\n", typ, f.tag)
	}
	w.printf("}\n")
}

func (w *writer) constructor() {
	typ, kind := upperFirst(w.of.name()), upperFirst(w.of.name())
	switch {
	case w.of.tags.client:
		params := "name, namespace string"
		if w.of.tags.cluster {
			params = "name string"
		}
		w.printf("\n// %[1]s constructs a declarative configuration of the %[1]s type for use with\n// apply.\nfunc %[1]s(%[2]s) *%[3]s {\n", typ, params, w.name)
		w.printf("\tb := &%s{}\n\tb.WithName(name)\n", w.name)
		if !w.of.tags.cluster {
			w.printf("\tb.WithNamespace(namespace)\n")
		}
		w.printf("\tb.WithKind(%q)\n\tb.WithAPIVersion(%q)\n\treturn b\n}\n", kind, w.apiVersion())
		w.extract()
	case embeds(w.of.shape, typeMeta):
		w.printf("\n// %[2]s constructs a declarative configuration of the %[1]s type for use with\n// apply.\nfunc %[1]s() *%[2]s {\n", typ, w.name)
		w.printf("\tb := &%s{}\n\tb.WithKind(%q)\n\tb.WithAPIVersion(%q)\n\treturn b\n}\n", w.name, kind, w.apiVersion())
	default:
		w.printf("\n// %[2]s constructs a declarative configuration of the %[1]s type for use with\n// apply.\nfunc %[1]s() *%[2]s {\n\treturn &%[2]s{}\n}\n", typ, w.name)
	}
}

// setters writes a function for each field, those of embedded structs among them.
func (w *writer) setters(s *shape, in *embedding) {
	for _, f := range fieldsOf(s) {
		if slices.Contains(w.set, f.name) {
			continue
		}
		w.set = append(w.set, f.name)
		if f.embedded {
			inner := w.embedding(f)
			if !inner.inline && !w.configured(f.shape) {
				w.mistake(f.pos, len(f.name), "write `json:\",inline\"`, or name the field",
					"%s is embedded under a name of its own in JSON, and has no apply configuration that could be embedded for it", f.name)
				continue
			}
			w.setters(f.shape, inner)
			if !inner.inline {
				w.ensurer(inner)
			}
			continue
		}
		switch {
		case f.shape.deref().form == list && w.configured(f.shape.deref().elem):
			w.appendAll(f, in, pointerTo(w.configuration(f.shape).elem))
		case f.shape.form == list:
			w.appendAll(f, in, w.configuration(f.shape).elem)
		case f.shape.form == mapping:
			w.putAll(f, in)
		default:
			w.setOne(f, in)
		}
	}
}

func (w *writer) embedding(f field) *embedding {
	return &embedding{shape: w.configuration(f.shape), inline: f.tag.inline}
}

// place is where the configuration keeps a field.
func (in *embedding) place(f field) string {
	if in == nil {
		return "b." + f.name
	}
	if in.shape.name.name != "" {
		return "b." + in.shape.name.name + "." + f.name
	}
	return "b." + f.name
}

func (in *embedding) ensure() string {
	if in == nil || in.inline {
		return ""
	}
	return "\tb.ensure" + in.shape.spoken() + "Exists()\n"
}

func (w *writer) ensurer(in *embedding) {
	spoken := in.shape.spoken()
	w.printf("\nfunc (b *%s) ensure%[2]sExists() {\n\tif b.%[2]s == nil {\n\t\tb.%[2]s = &%[3]s{}\n\t}\n}\n", w.name, spoken, in.shape.source(w.imports))
}

func (w *writer) setOne(f field, in *embedding) {
	w.printf(`
// With%[1]s sets the %[1]s field in the declarative configuration to the given value
// and returns the receiver, so that objects can be built by chaining "With" function invocations.
// If called multiple times, the %[1]s field is set to the value of the last call.
`, f.name)
	param := w.configuration(f.shape)
	value := "&value"
	if w.configured(f.shape) {
		param, value = pointerTo(param), "value"
	} else if f.shape.nillable() {
		value = "value"
	}
	w.printf("func (b *%[1]s) With%[2]s(value %[3]s) *%[1]s {\n%[4]s", w.name, f.name, param.source(w.imports), in.ensure())
	w.printf("\t%s = %s\n\treturn b\n}\n", in.place(f), value)
}

func (w *writer) appendAll(f field, in *embedding, element *shape) {
	behindPointer := f.shape.form == pointer
	ensure := in.ensure()
	if behindPointer {
		elem := w.configuration(f.shape).elem
		w.printf("\nfunc (b *%s) ensure%sExists() {\n\tif b.%[3]s == nil {\n\t\tb.%[3]s = &[]%[4]s{}\n\t}\n}\n", w.name, elem.spoken(), f.name, elem.source(w.imports))
		ensure += "\tb.ensure" + elem.spoken() + "Exists()\n"
	}
	w.printf(`
// With%[1]s adds the given value to the %[1]s field in the declarative configuration
// and returns the receiver, so that objects can be build by chaining "With" function invocations.
// If called multiple times, values provided by each call will be appended to the %[1]s field.
`, f.name)
	w.printf("func (b *%[1]s) With%[2]s(values ...%[3]s) *%[1]s {\n%[4]s\tfor i := range values {\n", w.name, f.name, element.source(w.imports), ensure)
	value := "values[i]"
	if element.form == pointer {
		w.printf("\t\tif values[i] == nil {\n\t\t\tpanic(\"nil value passed to With%s\")\n\t\t}\n", f.name)
		value = "*values[i]"
	}
	place := in.place(f)
	if behindPointer {
		place = "*" + place
	}
	w.printf("\t\t%[1]s = append(%[1]s, %[2]s)\n\t}\n\treturn b\n}\n", place, value)
}

func (w *writer) putAll(f field, in *embedding) {
	w.printf(`
// With%[1]s puts the entries into the %[1]s field in the declarative configuration
// and returns the receiver, so that objects can be build by chaining "With" function invocations.
// If called multiple times, the entries provided by each call will be put on the %[1]s field,
// overwriting an existing map entries in %[1]s field with the same key.
`, f.name)
	typ := w.configuration(f.shape).source(w.imports)
	w.printf("func (b *%[1]s) With%[2]s(entries %[3]s) *%[1]s {\n%[4]s", w.name, f.name, typ, in.ensure())
	w.printf("\tif %[1]s == nil && len(entries) > 0 {\n\t\t%[1]s = make(%[2]s, len(entries))\n\t}\n", in.place(f), typ)
	w.printf("\tfor k, v := range entries {\n\t\t%s[k] = v\n\t}\n\treturn b\n}\n", in.place(f))
}

// getters writes functions that return what a client reads.
func (w *writer) getters(s *shape, in *embedding) {
	for _, f := range fieldsOf(s) {
		if f.embedded {
			w.getters(f.shape, w.embedding(f))
			continue
		}
		if !needsGetter(s.name, f.name) {
			continue
		}
		w.printf("\n// Get%[1]s retrieves the value of the %[1]s field in the declarative configuration.\n", f.name)
		w.printf("func (b *%s) Get%s() *%s {\n%s\treturn %s\n}\n", w.name, f.name, w.configuration(f.shape).source(w.imports), in.ensure(), in.place(f))
	}
}

// extract writes the functions that read back what was applied.
func (w *writer) extract() {
	schema, ok := w.schemas.of(w.of)
	if !ok {
		return
	}
	typ := upperFirst(w.of.name())
	object := lowerFirst(w.of.name())
	from := w.of.shape.source(w.imports)
	r := strings.NewReplacer("{Type}", typ, "{object}", object, "{Config}", w.name, "{Go}", from)
	w.body.WriteString(r.Replace(`
// Extract{Type}From extracts the applied configuration owned by fieldManager from
// {object} for the specified subresource. Pass an empty string for subresource to extract
// the main resource. Common subresources include "status", "scale", etc.
// {object} must be a unmodified {Type} API object that was retrieved from the Kubernetes API.
// Extract{Type}From provides a way to perform a extract/modify-in-place/apply workflow.
// Note that an extracted apply configuration will contain fewer fields than what the fieldManager previously
// applied if another fieldManager has updated or force applied any of the previously applied fields.
func Extract{Type}From({object} *{Go}, fieldManager string, subresource string) (*{Config}, error) {
	b := &{Config}{}
`))
	w.printf("\terr := %sExtractInto(%s, %sParser().Type(%q), fieldManager, b, subresource)\n", w.imports.qualifier("k8s.io/apimachinery/pkg/util/managedfields"),
		object, w.imports.qualifier(w.path+"/internal"), schema)
	w.printf("\tif err != nil {\n\t\treturn nil, err\n\t}\n\tb.WithName(%s.Name)\n", object)
	if !w.of.tags.cluster {
		w.printf("\tb.WithNamespace(%s.Namespace)\n", object)
	}
	w.printf("\n\tb.WithKind(%q)\n\tb.WithAPIVersion(%q)\n\treturn b, nil\n}\n", typ, w.apiVersion())
	w.body.WriteString(r.Replace(`
// Extract{Type} extracts the applied configuration owned by fieldManager from
// {object}. If no managedFields are found in {object} for fieldManager, a
// {Config} is returned with only the Name, Namespace (if applicable),
// APIVersion and Kind populated. It is possible that no managed fields were found for because other
// field managers have taken ownership of all the fields previously owned by fieldManager, or because
// the fieldManager never owned fields any fields.
// {object} must be a unmodified {Type} API object that was retrieved from the Kubernetes API.
// Extract{Type} provides a way to perform a extract/modify-in-place/apply workflow.
// Note that an extracted apply configuration will contain fewer fields than what the fieldManager previously
// applied if another fieldManager has updated or force applied any of the previously applied fields.
func Extract{Type}({object} *{Go}, fieldManager string) (*{Config}, error) {
	return Extract{Type}From({object}, fieldManager, "")
}
`))
	for _, sub := range w.subresources() {
		w.body.WriteString(strings.NewReplacer("{Type}", typ, "{object}", object, "{Config}", w.name, "{Go}", from, "{sub}", sub, "{Sub}", upperFirst(strings.ToLower(sub))).Replace(`
// Extract{Type}{Sub} extracts the applied configuration owned by fieldManager from
// {object} for the {sub} subresource.
func Extract{Type}{Sub}({object} *{Go}, fieldManager string) (*{Config}, error) {
	return Extract{Type}From({object}, fieldManager, "{sub}")
}
`))
	}
}

// subresources lists those that can be extracted on their own.
func (w *writer) subresources() []string {
	var out []string
	if !w.of.tags.noStatus && hasField(w.of.shape, "Status") {
		out = append(out, "status")
	}
	for _, e := range w.of.tags.extensions {
		if e.subresource != "" {
			out = append(out, e.subresource)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
