package sidebyside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// A World is one of the two that the same operations are done in: the fake, or the real control plane.
type World struct {
	client.WithWatch
	// Namespace is where its objects live.
	Namespace string
	// versions are the resourceVersions that each object has had.
	versions map[string][]string
}

// An Outcome is what an operation led to, in a form that can be compared between worlds.
type Outcome struct {
	Reason string
	// Causes are what is wrong with an invalid object, field by field.
	Causes []string `json:",omitempty"`
	Answer any      `json:",omitempty"`
	// State is the object afterwards.
	State any `json:",omitempty"`
	// Moved says whether the object's resourceVersion is another than before.
	Moved bool `json:",omitempty"`

	err error
}

func (o Outcome) String() string {
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

// causes returns what an error says is invalid, each cause once and in an order of its own: servers go through maps, and check
// metadata twice.
func causes(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	if status.Status().Details.Kind == "Scale" {
		return nil // clients cannot read what servers say about a scale
	}
	var out []string
	for _, c := range status.Status().Details.Causes {
		// The first kind quotes the whole object, with what must differ between worlds; the second is the client's own.
		if c.Field == "patch" || c.Type == metav1.CauseTypeUnexpectedServerResponse {
			continue
		}
		out = append(out, fmt.Sprintf("%s at %s: %s", c.Type, c.Field, c.Message))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Object returns an object of kind with nothing but a name.
func (w *World) Object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace(w.Namespace)
	u.SetName(name)
	return u
}

// Current returns the object as it is, or nil.
func (w *World) Current(ctx context.Context, kind schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	u := w.Object(kind, name)
	err := w.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return u, err
}

// do carries out op on one object and looks at what became of it.
func (w *World) do(ctx context.Context, kind schema.GroupVersionKind, name string, op func() (any, error)) (Outcome, error) {
	id := kind.Kind + "/" + name
	before := w.last(id)
	answer, err := op()
	out := Outcome{Reason: reason(err), Causes: causes(err), err: err}
	if err == nil {
		out.Answer = answer
	}
	now, err := w.Current(ctx, kind, name)
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
	out.State = Normal(now.Object)
	return out, nil
}

func (w *World) last(id string) string {
	versions := w.versions[id]
	if len(versions) == 0 {
		return ""
	}
	return versions[len(versions)-1]
}

// Version returns a resourceVersion to name in an operation: the current one, an older one, or none.
func (w *World) Version(which string, kind schema.GroupVersionKind, name string) string {
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

// Normal returns an object without what must differ between worlds: identity, times and resourceVersions.
func Normal(object map[string]any) map[string]any {
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
			entries[i] = Encode(entry)
		}
		slices.SortFunc(entries, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	return u.Object
}

// Encode returns v as JSON, for what is always encodable.
func Encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
