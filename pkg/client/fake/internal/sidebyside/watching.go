package sidebyside

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operon-dev/operon/pkg/client"
)

// watching is a watch of one kind, restricted to the objects of some team.
type watching struct {
	watch.Interface
	// valid is an object of the kind.
	valid *unstructured.Unstructured
}

// watchTeams opens a watch of the objects of valid's kind that have a team.
func (w *World) watchTeams(ctx context.Context, valid *unstructured.Unstructured) (watching, error) {
	list := &unstructured.UnstructuredList{}
	kind := valid.GroupVersionKind()
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	opened, err := w.Watch(ctx, list, client.InNamespace(w.Namespace), client.HasLabels{"team"})
	return watching{opened, valid}, err
}

// told returns all that the watch has told so far. It marks the end by an object of its own.
func (w *World) told(ctx context.Context, opened watching) ([]string, error) {
	const end = "end"
	u := opened.valid.DeepCopy()
	u.SetNamespace(w.Namespace)
	u.SetName(end)
	u.SetLabels(map[string]string{"team": end})
	if err := w.Create(ctx, u); err != nil {
		return nil, err
	}
	var events []string
	for {
		select {
		case event, ok := <-opened.ResultChan():
			if !ok {
				return events, fmt.Errorf("the watch of %s ended", opened.valid.GetKind())
			}
			obj, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				return events, fmt.Errorf("the watch of %s told of a %T", opened.valid.GetKind(), event.Object)
			}
			if obj.GetName() == end {
				return events, nil
			}
			events = append(events, fmt.Sprintf("%s %s", event.Type, Encode(Normal(obj.Object))))
		case <-ctx.Done():
			return events, ctx.Err()
		}
	}
}
