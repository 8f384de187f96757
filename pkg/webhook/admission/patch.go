package admission

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
)

// createPatch returns the operations that turn one JSON document into another.
func createPatch(original, current []byte) ([]jsonpatch.Operation, error) {
	if !longNumber.Match(original) && !longNumber.Match(current) {
		return jsonpatch.CreatePatch(original, current)
	}
	original, err := hideLongNumbers(original)
	if err != nil {
		return nil, err
	}
	if current, err = hideLongNumbers(current); err != nil {
		return nil, err
	}
	operations, err := jsonpatch.CreatePatch(original, current)
	for i := range operations {
		operations[i].Value = showLongNumbers(operations[i].Value)
	}
	return operations, err
}

// The library that makes patches reads numbers as float64, which has no room
// for more than 15 digits. Longer numbers go through it as text with this mark, which no object has in it.
const numberMark = "\x00number:"

var longNumber = regexp.MustCompile(`[0-9.]{16}`)

func hideLongNumbers(document []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(replaceLeaves(tree, func(leaf any) any {
		if n, ok := leaf.(json.Number); ok && longNumber.MatchString(n.String()) {
			return numberMark + n.String()
		}
		return leaf
	}))
}

func showLongNumbers(tree any) any {
	return replaceLeaves(tree, func(leaf any) any {
		if text, ok := leaf.(string); ok {
			if n, marked := strings.CutPrefix(text, numberMark); marked {
				return json.Number(n)
			}
		}
		return leaf
	})
}

// replaceLeaves replaces, in place, whatever in a tree is neither a list nor a map.
func replaceLeaves(tree any, replace func(any) any) any {
	switch tree := tree.(type) {
	case map[string]any:
		for key, value := range tree {
			tree[key] = replaceLeaves(value, replace)
		}
		return tree
	case []any:
		for i, value := range tree {
			tree[i] = replaceLeaves(value, replace)
		}
		return tree
	}
	return replace(tree)
}
