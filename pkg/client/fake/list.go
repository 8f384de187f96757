package fake

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// continuation is what a continue token says: where the next part of a list begins.
type continuation struct {
	After types.NamespacedName `json:"after"`
}

func (c continuation) encode() (string, error) {
	data, err := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(data), err
}

func decodeContinuation(token string) (continuation, error) {
	var c continuation
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, apierrors.NewBadRequest(fmt.Sprintf("continue key is not valid: %v", err))
	}
	return c, nil
}

// page is a list, or a part of one.
type page struct {
	entries   []*entry
	version   string
	next      string
	remaining *int64
}

// list returns the entries that the options ask for.
func (s *server) list(k *kind, o *client.ListOptions) (page, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sel, err := s.selectorFor(k, o)
	if err != nil {
		return page{}, err
	}
	entries, err := s.store.list(k, sel.namespace)
	if err != nil {
		return page{}, err
	}
	if o.Continue != "" {
		c, err := decodeContinuation(o.Continue)
		if err != nil {
			return page{}, err
		}
		from, found := slices.BinarySearchFunc(entries, c.After, func(e *entry, key types.NamespacedName) int { return compareKeys(keyOf(e.obj), key) })
		if found {
			from++
		}
		entries = entries[from:]
	}
	if sel.selective() {
		matching := entries[:0:0]
		for _, e := range entries {
			ok, err := sel.matches(e)
			if err != nil {
				return page{}, err
			}
			if ok {
				matching = append(matching, e)
			}
		}
		entries = matching
	}
	p := page{entries: entries, version: s.listVersion()}
	if o.Limit > 0 && int64(len(entries)) > o.Limit {
		p.entries = entries[:o.Limit]
		if !sel.selective() {
			rest := int64(len(entries)) - o.Limit
			p.remaining = &rest
		}
		p.next, err = continuation{After: keyOf(p.entries[o.Limit-1].obj)}.encode()
	}
	return p, err
}

// answerList puts a page into list, in place of what was there.
func (s *server) answerList(k *kind, p page, list client.ObjectList) error {
	var err error
	switch list := list.(type) {
	case *unstructured.UnstructuredList:
		err = s.fillUnstructured(k, p, list)
	case *metav1.PartialObjectMetadataList:
		err = s.fillMetadata(k, p, list)
	default:
		err = s.fillTyped(k, p, list)
	}
	if err != nil {
		return err
	}
	if p.version != "" || list.GetResourceVersion() != "" {
		list.SetResourceVersion(p.version)
	}
	if p.next != "" || list.GetContinue() != "" {
		list.SetContinue(p.next)
	}
	list.SetRemainingItemCount(p.remaining)
	return nil
}

func (s *server) fillUnstructured(k *kind, p page, list *unstructured.UnstructuredList) error {
	gvk := list.GroupVersionKind()
	list.Object = map[string]any{}
	list.SetGroupVersionKind(gvk)
	list.Items = make([]unstructured.Unstructured, len(p.entries))
	for i, e := range p.entries {
		item, err := s.view(k, e, &unstructured.Unstructured{})
		if err != nil {
			return err
		}
		list.Items[i] = *item.(*unstructured.Unstructured)
	}
	return nil
}

func (s *server) fillMetadata(k *kind, p page, list *metav1.PartialObjectMetadataList) error {
	list.Items = make([]metav1.PartialObjectMetadata, len(p.entries))
	for i, e := range p.entries {
		item, err := s.view(k, e, &metav1.PartialObjectMetadata{})
		if err != nil {
			return err
		}
		list.Items[i] = *item.(*metav1.PartialObjectMetadata)
	}
	return nil
}

// fillTyped also fills lists of other types that hold maps.
func (s *server) fillTyped(k *kind, p page, list client.ObjectList) error {
	itemsPtr, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	items := reflect.ValueOf(itemsPtr).Elem()
	of := items.Type().Elem()
	pointers := of.Kind() == reflect.Pointer
	if pointers {
		of = of.Elem()
	}
	like, ok := reflect.New(of).Interface().(runtime.Object)
	if !ok {
		return fmt.Errorf("%T cannot be listed into: its items are not objects", list)
	}
	filled := reflect.MakeSlice(items.Type(), len(p.entries), len(p.entries))
	for i, e := range p.entries {
		item, err := s.view(k, e, like)
		if err != nil {
			return err
		}
		if v := reflect.ValueOf(item); pointers {
			filled.Index(i).Set(v)
		} else {
			filled.Index(i).Set(v.Elem())
		}
	}
	items.Set(filled)
	clearKind(list)
	return nil
}

// newItem returns an empty object of the form that list's items have.
func newItem(list client.ObjectList) (runtime.Object, error) {
	switch list.(type) {
	case *unstructured.UnstructuredList:
		return &unstructured.Unstructured{}, nil
	case *metav1.PartialObjectMetadataList:
		return &metav1.PartialObjectMetadata{}, nil
	}
	itemsPtr, err := meta.GetItemsPtr(list)
	if err != nil {
		return nil, err
	}
	of := reflect.TypeOf(itemsPtr).Elem().Elem()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	item, ok := reflect.New(of).Interface().(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("%T cannot be watched: its items are not objects", list)
	}
	return item, nil
}
