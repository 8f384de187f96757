package scaffold

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
)

// deleteOptions are what "operon delete api" and "operon delete webhook" take.
type deleteOptions struct {
	gvk
	force bool
}

// A removal is a plan that takes something out of a project.
type removal struct {
	set *fileset.Set
	// force takes files out that a person has changed.
	force bool
	// kept are the files that stay because they were changed.
	kept []string
	// needTypes says that something stays, a controller for example, and that it needs the types.
	needTypes bool
}

// file takes a file out if it is as it was made, and reports whether it is gone from the plan.
func (rm *removal) file(path, template string, data filling) (bool, error) {
	made, err := data.from().Render(template, data)
	if err != nil {
		return false, err
	}
	return rm.unchanged(path, made)
}

// unchanged takes a file out if its content is one of those that may have been made, or by force.
func (rm *removal) unchanged(path string, made ...string) (bool, error) {
	text, err := readIfThere(rm.set, path)
	if err != nil || text == "" {
		return err == nil, err
	}
	if !rm.force && !slices.ContainsFunc(made, func(made string) bool { return comparable(text) == comparable(made) }) {
		rm.kept = append(rm.kept, path)
		return false, nil
	}
	return true, rm.set.Remove(path)
}

// comparable is what of a file a person may have changed: not its head, and not what other verbs have put in.
func comparable(text string) string {
	if strings.HasPrefix(text, "/*") {
		_, text, _ = strings.Cut(text, "*/")
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || line == "// +kubebuilder:storageversion"
	})
	return strings.Join(lines, "\n")
}

// edit changes a file if it is there.
func (rm *removal) edit(path string, change func(string) (string, error)) error {
	if !rm.set.Exists(path) {
		return nil
	}
	return rm.set.Edit(path, func(text string) (string, error) {
		if strings.HasSuffix(path, ".go") {
			if err := splice.Valid(text); err != nil {
				return "", err
			}
		}
		return change(text)
	})
}

// item takes an item out of the lists of a kustomization.
func (rm *removal) item(path, item string) error {
	return rm.edit(path, func(text string) (string, error) { return splice.RemoveItem(text, item), nil })
}

// unwire takes out of a Go file the statement that makes a call, or a value, of an imported package, and the import where nothing else needs
// it. Other packages may have the same name for theirs.
func (rm *removal) unwire(file, path, call string) error {
	return rm.edit(file, func(src string) (string, error) {
		alias, ok := splice.ImportName(src, path)
		if !ok {
			return src, nil
		}
		src, err := splice.RemoveStatement(src, alias+"."+call)
		if err != nil {
			return "", err
		}
		return splice.RemoveUnusedImport(src, path)
	})
}

// listed takes out a file, and the item that lists it, if it is as it was made.
func (rm *removal) listed(list, item, file, template string, data filling) error {
	if _, err := rm.file(file, template, data); err != nil {
		return err
	}
	return rm.item(list, item)
}
