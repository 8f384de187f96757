package deploy

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// prune deletes what the set held in one of oldKinds and objects do not, and returns the kinds of what it kept.
func (d *Deployer) prune(ctx context.Context, s Set, oldKinds []schema.GroupKind, objects []*unstructured.Unstructured) (kept []schema.GroupKind, err error) {
	type identity struct {
		kind schema.GroupKind
		key  client.ObjectKey
	}
	wanted := map[identity]bool{}
	for _, object := range objects {
		wanted[identity{object.GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(object)}] = true
	}
	for _, kind := range oldKinds {
		members, err := d.members(ctx, s, kind)
		if err != nil {
			return nil, err
		}
		for i := range members {
			member := &members[i]
			if wanted[identity{kind, client.ObjectKeyFromObject(member)}] || member.GetDeletionTimestamp() != nil {
				continue
			}
			reason, err := d.reasonToKeep(ctx, member)
			if err != nil {
				return nil, err
			}
			if reason != "" {
				kept = append(kept, kind)
				d.report.Change(changeOf(member, Kept, reason))
				continue
			}
			if err := d.delete(ctx, member); err != nil && !apierrors.IsNotFound(err) {
				return nil, fmt.Errorf("%s, which the tree no longer holds: %w", describe(member), err)
			}
			d.report.Change(changeOf(member, Pruned, ""))
		}
	}
	return kept, nil
}

// members lists what carries the set's label among the objects of kind; none where the cluster does not know the kind any more.
func (d *Deployer) members(ctx context.Context, s Set, kind schema.GroupKind) ([]unstructured.Unstructured, error) {
	mapping, err := d.client.RESTMapper().RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what the API server serves: %w", err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := d.client.List(ctx, list, client.MatchingLabels{labelPartOf: s.id()}); err != nil {
		return nil, fmt.Errorf("%s objects of an earlier deployment: %w", kind.Kind, err)
	}
	return list.Items, nil
}

// reasonToKeep says why an object must not be pruned, or nothing: with a namespace or a definition goes all that is in it,
// and a tree that lost a line is no order to delete that.
func (d *Deployer) reasonToKeep(ctx context.Context, object *unstructured.Unstructured) (string, error) {
	switch rank(object) {
	case rankNamespace:
		return "no longer in the tree; delete it by hand, with all that is in it", nil
	case rankDefinition:
		gk := definedBy(object)
		mapping, err := d.client.RESTMapper().RESTMapping(gk)
		if meta.IsNoMatchError(err) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("what the API server serves: %w", err)
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(gk.Kind + "List"))
		if err := d.client.List(ctx, list, client.Limit(1)); err != nil {
			return "", fmt.Errorf("objects of %s: %w", gk, err)
		}
		if len(list.Items) > 0 {
			return fmt.Sprintf("no longer in the tree, and there are still objects of %s; delete it by hand, with all of them", gk), nil
		}
	}
	return "", nil
}

// delete deletes object as it is now, or asks what that would do in a dry run.
func (d *Deployer) delete(ctx context.Context, object *unstructured.Unstructured) error {
	options := []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}
	if d.dryRun {
		options = append(options, client.DryRunAll)
	}
	return d.client.Delete(ctx, object, options...)
}
