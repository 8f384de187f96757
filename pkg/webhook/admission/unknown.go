package admission

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// carryOver returns two documents whose difference is what a change of before to after means for
// sent, of which before is what a Go type kept. What the type knows is as in after; what it does not
// know, or omits because it is empty, is as in sent, unless what holds it was removed by the change. Fields that stay
// as they are may be left out of both documents: that is most of an object, and it costs no more than a comparison.
func carryOver(sent, before, after []byte) (original, current []byte, err error) {
	was, is, err := changedFields(sent, before, after)
	if err != nil {
		return nil, nil, err
	}
	if original, err = json.Marshal(was); err != nil {
		return nil, nil, err
	}
	current, err = json.Marshal(is)
	return original, current, err
}

// changedFields is carryOver for objects. An empty before stands for one without fields.
func changedFields(sent, before, after []byte) (original, current map[string]any, err error) {
	var fields [3]map[string]json.RawMessage
	for i, document := range [][]byte{sent, before, after} {
		if len(document) == 0 {
			continue
		}
		if err := json.Unmarshal(document, &fields[i]); err != nil {
			return nil, nil, err
		}
	}
	original, current = map[string]any{}, map[string]any{}
	for key, value := range fields[2] {
		was, there := fields[0][key]
		kept := fields[1][key]
		switch {
		case !there:
			current[key] = value
		case bytes.Equal(was, value) && bytes.Equal(kept, value):
		case isObject(was) && isObject(value):
			if !isObject(kept) {
				kept = nil
			}
			old, changed, err := changedFields(was, kept, value)
			if err != nil {
				return nil, nil, err
			}
			if len(old)+len(changed) > 0 {
				original[key], current[key] = old, changed
			}
		default:
			trees, err := decodeTrees(was, kept, value)
			if err != nil {
				return nil, nil, err
			}
			original[key], current[key] = was, merge(trees[0], trees[1], trees[2])
		}
	}
	for key, value := range fields[0] {
		_, known := fields[1][key]
		if _, stays := fields[2][key]; known && !stays {
			original[key] = value
		}
	}
	return original, current, nil
}

func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }

// decodeTrees decodes three values; an empty one becomes nil.
func decodeTrees(documents ...json.RawMessage) (trees [3]any, err error) {
	for i, document := range documents {
		if len(document) == 0 {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(document))
		// Integers beyond 2^53 must not change on the way.
		decoder.UseNumber()
		if err := decoder.Decode(&trees[i]); err != nil {
			return trees, err
		}
	}
	return trees, nil
}

// merge returns what carryOver makes of one value of sent.
func merge(sent, before, after any) any {
	switch after := after.(type) {
	case map[string]any:
		sent, ok := sent.(map[string]any)
		if !ok {
			return after
		}
		before, _ := before.(map[string]any)
		return mergeFields(sent, before, after)
	case []any:
		sent, ok := sent.([]any)
		before, okBefore := before.([]any)
		if !ok || !okBefore || len(sent) != len(before) {
			return after
		}
		return mergeItems(sent, before, after)
	}
	return after
}

func mergeFields(sent, before, after map[string]any) map[string]any {
	merged := make(map[string]any, len(after))
	for key, value := range sent {
		_, known := before[key]
		if _, kept := after[key]; !kept && !known {
			merged[key] = value
		}
	}
	for key, value := range after {
		if original, ok := sent[key]; ok {
			value = merge(original, before[key], value)
		}
		merged[key] = value
	}
	return merged
}

// mergeItems merges lists, of which sent and before agree item by item.
func mergeItems(sent, before, after []any) []any {
	merged := make([]any, len(after))
	for i, origin := range origins(before, after) {
		merged[i] = after[i]
		if origin >= 0 {
			merged[i] = merge(sent[origin], before[origin], after[i])
		}
	}
	return merged
}

// origins tells for each item of after which item of before it was, or -1 for a
// new one: the one that is equal; else the one with the same name, as lists of objects in Kubernetes are told apart by
// it; else, in a list that did not change its length, the one in the same place.
func origins(before, after []any) []int {
	origins := make([]int, len(after))
	taken := make([]bool, len(before))
	for i := range after {
		origins[i] = -1
	}
	assign := func(same func(i, j int) bool) {
		next := 0 // items seldom change places: the search begins after the last find
		for i := range after {
			if origins[i] >= 0 {
				next = origins[i] + 1
				continue
			}
			for n := range before {
				j := (next + n) % len(before)
				if !taken[j] && same(i, j) {
					origins[i], taken[j], next = j, true, j+1
					break
				}
			}
		}
	}
	assign(func(i, j int) bool { return reflect.DeepEqual(after[i], before[j]) })
	assign(func(i, j int) bool {
		name, ok := nameOf(after[i])
		other, okOther := nameOf(before[j])
		return ok && okOther && name == other
	})
	if len(before) == len(after) {
		assign(func(i, j int) bool { return i == j })
	}
	return origins
}

// nameOf returns what an item of a list is known by.
func nameOf(item any) (string, bool) {
	fields, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	for _, key := range []string{"name", "key", "type", "id", "uid"} {
		if name, ok := fields[key].(string); ok {
			return key + "=" + name, true
		}
	}
	return "", false
}
