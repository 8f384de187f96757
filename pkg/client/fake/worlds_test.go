package fake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operon-dev/operon/pkg/client"
)

// world is one of the two that the same operations are done in: the fake, or the real control plane.
type world struct {
	client.WithWatch
	namespace string
	// versions are the resourceVersions that each object has had.
	versions map[string][]string
}

// outcome is what an operation led to, in a form that can be compared between worlds.
type outcome struct {
	Reason string
	Answer any `json:",omitempty"`
	// State is the object afterwards.
	State any `json:",omitempty"`
	// Moved says whether the object's resourceVersion is another than before.
	Moved bool `json:",omitempty"`

	err error
}

func (o outcome) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// reason tells what kind of error err is.
func reason(err error) string {
	switch {
	case err == nil:
		return ""
	case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		return string(apierrors.ReasonForError(err))
	default:
		return "other"
	}
}

// object returns an object of kind with nothing but a name.
func (w *world) object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace(w.namespace)
	u.SetName(name)
	return u
}

// current returns the object as it is, or nil.
func (w *world) current(ctx context.Context, kind schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	u := w.object(kind, name)
	err := w.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return u, err
}

// do carries out op on one object and looks at what became of it.
func (w *world) do(ctx context.Context, kind schema.GroupVersionKind, name string, op func() (any, error)) (outcome, error) {
	id := kind.Kind + "/" + name
	before := w.last(id)
	answer, err := op()
	out := outcome{Reason: reason(err), err: err}
	if err == nil {
		out.Answer = answer
	}
	now, err := w.current(ctx, kind, name)
	if err != nil {
		return out, fmt.Errorf("look at %s: %w", id, err)
	}
	if now == nil {
		delete(w.versions, id)
		return out, nil
	}
	if version := now.GetResourceVersion(); version != before {
		out.Moved = true
		w.versions[id] = append(w.versions[id], version)
	}
	out.State = normal(now.Object)
	return out, nil
}

func (w *world) last(id string) string {
	versions := w.versions[id]
	if len(versions) == 0 {
		return ""
	}
	return versions[len(versions)-1]
}

// version returns a resourceVersion to name in an operation: the current one, an older one, or none.
func (w *world) version(which string, kind schema.GroupVersionKind, name string) string {
	id := kind.Kind + "/" + name
	switch which {
	case "current":
		return w.last(id)
	case "stale":
		if versions := w.versions[id]; len(versions) > 1 {
			return versions[0]
		}
		return "4000000"
	}
	return ""
}

// normal returns an object without what must differ between worlds: identity, times and resourceVersions.
func normal(object map[string]any) map[string]any {
	u := (&unstructured.Unstructured{Object: object}).DeepCopy()
	meta, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return u.Object
	}
	for _, field := range []string{"uid", "creationTimestamp", "deletionTimestamp", "resourceVersion", "namespace"} {
		if _, ok := meta[field]; ok {
			meta[field] = "set"
		}
	}
	if entries, ok := meta["managedFields"].([]any); ok {
		for i, entry := range entries {
			delete(entry.(map[string]any), "time")
			entries[i] = encode(entry)
		}
		slices.SortFunc(entries, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	return u.Object
}

// watching is a watch of one kind, restricted to the objects of some team.
type watching struct {
	watch.Interface
	kind schema.GroupVersionKind
}

// watchTeams opens a watch of the objects that have a team.
func (w *world) watchTeams(ctx context.Context, kind schema.GroupVersionKind) (watching, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	opened, err := w.Watch(ctx, list, client.InNamespace(w.namespace), client.HasLabels{"team"})
	return watching{opened, kind}, err
}

// told returns all that the watch has told so far. It marks the end by an object of its own.
func (w *world) told(ctx context.Context, opened watching) ([]string, error) {
	const end = "end"
	u := w.object(opened.kind, end)
	u.SetLabels(map[string]string{"team": end})
	if opened.kind == gadgetKind {
		u.Object["spec"] = map[string]any{"color": "red"}
	}
	if err := w.Create(ctx, u); err != nil {
		return nil, err
	}
	var events []string
	for {
		select {
		case event, ok := <-opened.ResultChan():
			if !ok {
				return events, fmt.Errorf("the watch of %s ended", opened.kind.Kind)
			}
			obj, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				return events, fmt.Errorf("the watch of %s told of a %T", opened.kind.Kind, event.Object)
			}
			if obj.GetName() == end {
				return events, nil
			}
			events = append(events, fmt.Sprintf("%s %s", event.Type, encode(normal(obj.Object))))
		case <-ctx.Done():
			return events, ctx.Err()
		}
	}
}
