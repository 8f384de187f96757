package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/pkg/client"
)

// Remove deletes objects, in Render's order, and whatever else the set s holds, and returns when all of it is gone. Custom
// resources go first, with their definitions, because the operator that removes their finalizers is among the objects.
func (d *Deployer) Remove(ctx context.Context, s Set, objects []*unstructured.Unstructured) error {
	return permitted(d.remove(ctx, s, objects))
}

func (d *Deployer) remove(ctx context.Context, s Set, objects []*unstructured.Unstructured) error {
	objects, err := d.withMembers(ctx, s, objects)
	if err != nil {
		return err
	}
	var definitions, namespaces, others []*unstructured.Unstructured
	for _, object := range objects {
		switch rank(object) {
		case rankDefinition:
			definitions = append(definitions, object)
		case rankNamespace:
			namespaces = append(namespaces, object)
		default:
			others = append(others, object)
		}
	}
	slices.Reverse(others)
	for _, step := range [][]*unstructured.Unstructured{definitions, others} {
		if err := d.removeAll(ctx, step); err != nil {
			return err
		}
	}
	if !d.dryRun {
		if err := d.client.Delete(ctx, s.record()); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("record of what was deployed, ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
		}
	}
	return d.removeAll(ctx, namespaces)
}

// withMembers adds to objects what the set's record knows and the tree no longer holds, in the order of application.
func (d *Deployer) withMembers(ctx context.Context, s Set, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	kinds, _, err := d.recorded(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		members, err := d.members(ctx, s, kind)
		if err != nil {
			return nil, err
		}
		for i := range members {
			member := &members[i]
			if !slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
				return o.GroupVersionKind().GroupKind() == kind && client.ObjectKeyFromObject(o) == client.ObjectKeyFromObject(member)
			}) {
				objects = append(objects, member)
			}
		}
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return objects, nil
}

// removeAll deletes objects and waits until they are gone.
func (d *Deployer) removeAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	var deleted []*unstructured.Unstructured
	for _, object := range objects {
		err := d.delete(ctx, object)
		switch {
		case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			d.report.Change(changeOf(object, Absent, ""))
			continue
		case err != nil:
			return refused(object, err)
		}
		deleted = append(deleted, object)
		if d.dryRun {
			d.report.Change(changeOf(object, Deleted, ""))
		}
	}
	if d.dryRun {
		return nil
	}
	for _, object := range deleted {
		if err := d.await(ctx, object, gone); err != nil {
			if rank(object) == rankDefinition {
				err = d.withRemainingObjects(object, err)
			}
			return err
		}
		d.report.Change(changeOf(object, Deleted, ""))
	}
	return nil
}

// withRemainingObjects adds to err which objects of a definition hold its deletion up.
func (d *Deployer) withRemainingObjects(definition *unstructured.Unstructured, err error) error {
	gk := definedBy(definition)
	mapping, mapErr := d.client.RESTMapper().RESTMapping(gk)
	if mapErr != nil {
		return err
	}
	// The caller's context has ended already.
	ctx, cancel := context.WithTimeout(context.Background(), reasonTime)
	defer cancel()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(gk.Kind + "List"))
	if d.client.List(ctx, list) != nil || len(list.Items) == 0 {
		return err
	}
	var held []string
	for _, item := range list.Items {
		name := item.Name
		if item.Namespace != "" {
			name = item.Namespace + "/" + name
		}
		if len(held) == 5 {
			held = append(held, fmt.Sprintf("and %d more", len(list.Items)-len(held)))
			break
		}
		held = append(held, fmt.Sprintf("%s %s (finalizers: %s)", gk.Kind, name, strings.Join(item.Finalizers, ", ")))
	}
	return fmt.Errorf("%w: still there: %s; start the operator so that it can finish them, or take their finalizers off by hand if nothing is left to clean up", err, strings.Join(held, "; "))
}
