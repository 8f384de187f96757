package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// fieldOwner is the field manager of everything that is applied.
const fieldOwner = client.FieldOwner("operon")

// A Deployer applies sets to one cluster and removes them. It is not for concurrent use.
type Deployer struct {
	client client.WithWatch
	report *Reporter
	dryRun bool
}

// NewDeployer returns a Deployer that writes through c and tells r. With dryRun the API server checks and answers, and nothing
// is written.
func NewDeployer(c client.WithWatch, r *Reporter, dryRun bool) *Deployer {
	return &Deployer{client: c, report: r, dryRun: dryRun}
}

// ApplyOptions says how Apply ends.
type ApplyOptions struct {
	// NoPrune leaves what the tree no longer holds.
	NoPrune bool
	// NoWait returns without waiting for workloads to become available. Definitions are always waited for.
	NoWait bool
}

// Apply makes the cluster hold objects, which Render has put in order, as the set s. It returns when their definitions are
// established and their workloads available, or with an error that says what did not become so before ctx ended.
func (d *Deployer) Apply(ctx context.Context, s Set, objects []*unstructured.Unstructured, options ApplyOptions) error {
	return permitted(d.apply(ctx, s, objects, options))
}

func (d *Deployer) apply(ctx context.Context, s Set, objects []*unstructured.Unstructured, options ApplyOptions) error {
	if err := d.known(objects); err != nil {
		return err
	}
	for _, object := range objects {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[labelPartOf] = s.id()
		object.SetLabels(labels)
	}

	isFirst := func(o *unstructured.Unstructured) bool { return rank(o) <= rankDefinition }
	rest := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return !isFirst(o) })
	if rest < 0 {
		rest = len(objects)
	}
	// The record's namespace may be one of the objects, so these come before the record.
	if err := d.applyAll(ctx, objects[:rest]); err != nil {
		return err
	}
	oldKinds, oldNamespaces, err := d.recorded(ctx, s)
	if err != nil {
		return err
	}
	kinds, namespaces := kindsOf(objects), s.namespacesOf(objects)
	if !d.dryRun {
		// Until the prune is done the record lists the old kinds too: whoever interrupts it can prune later.
		allNamespaces := slices.Concat(oldNamespaces, namespaces)
		slices.Sort(allNamespaces)
		if err := d.writeRecord(ctx, s, sortedKinds(slices.Concat(oldKinds, kinds)), slices.Compact(allNamespaces)); err != nil {
			return err
		}
		for _, object := range objects[:rest] {
			if rank(object) == rankDefinition {
				if err := d.await(ctx, object, established); err != nil {
					return err
				}
				if err := d.awaitListed(ctx, object); err != nil {
					return err
				}
			}
		}
	}
	if err := d.applyAll(ctx, objects[rest:]); err != nil {
		return err
	}
	if options.NoPrune {
		return d.awaitWorkloads(ctx, objects, options)
	}
	kept, err := d.prune(ctx, s, oldKinds, objects)
	if err != nil {
		return err
	}
	if !d.dryRun {
		if err := d.writeRecord(ctx, s, sortedKinds(slices.Concat(kinds, kept)), namespaces); err != nil {
			return err
		}
	}
	return d.awaitWorkloads(ctx, objects, options)
}

// known returns an error where objects hold a kind that neither the API server serves nor one of them defines, or lack the namespace that they
// have to be in.
func (d *Deployer) known(objects []*unstructured.Unstructured) error {
	defined := map[schema.GroupKind]string{} // their scopes
	for _, object := range objects {
		if rank(object) == rankDefinition {
			defined[definedBy(object)], _, _ = unstructured.NestedString(object.Object, "spec", "scope")
		}
	}
	var unknown, homeless []string
	without := ""
	for _, object := range objects {
		gvk := object.GroupVersionKind()
		if scope, ok := defined[gvk.GroupKind()]; ok {
			if scope == "Namespaced" && object.GetNamespace() == "" {
				homeless = append(homeless, describe(object))
			}
			continue
		}
		mapping, err := d.client.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		if meta.IsNoMatchError(err) {
			unknown = append(unknown, fmt.Sprintf("%s (%s)", describe(object), object.GetAPIVersion()))
			if gvk.Group == "cert-manager.io" {
				without = "; webhooks made by operon create webhook --certificates manager need no cert-manager"
			}
		} else if err != nil {
			return fmt.Errorf("what the API server serves: %w", err)
		} else if mapping.Scope.Name() == meta.RESTScopeNameNamespace && object.GetNamespace() == "" {
			homeless = append(homeless, describe(object))
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the cluster does not know the kind of %s: install what defines it there (cert-manager and the Prometheus operator are the usual ones), or take it out of the kustomization%s; nothing was applied",
			strings.Join(unknown, ", "), without)
	}
	if len(homeless) > 0 {
		return fmt.Errorf("%s: no namespace is given, and the kind needs one: set it in the manifest, or with namespace in the kustomization; nothing was applied", strings.Join(homeless, ", "))
	}
	return nil
}

// definedBy returns the group kind that a custom resource definition defines.
func definedBy(definition *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

func (d *Deployer) applyAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		result, err := d.applyOne(ctx, object)
		if err != nil {
			return err
		}
		d.report.Change(changeOf(object, result, ""))
	}
	return nil
}

// applyOne applies object and tells what that changed.
func (d *Deployer) applyOne(ctx context.Context, object *unstructured.Unstructured) (Result, error) {
	before := &metav1.PartialObjectMetadata{}
	before.SetGroupVersionKind(object.GroupVersionKind())
	err := d.client.Get(ctx, client.ObjectKeyFromObject(object), before)
	absent := apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
	if err != nil && !absent {
		return "", fmt.Errorf("%s: %w", describe(object), err)
	}
	options := []client.ApplyOption{client.ForceOwnership, fieldOwner}
	if d.dryRun {
		options = append(options, client.DryRunAll)
		if absent && d.dependsOnWhatIsNotThere(ctx, object) {
			return Created, nil
		}
	}
	// The answer is decoded into what was applied; the tree's own object stays as it is.
	applied := object.DeepCopy()
	if err := d.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), options...); err != nil {
		return "", refused(object, err)
	}
	switch {
	case absent:
		return Created, nil
	case applied.GetResourceVersion() == before.GetResourceVersion():
		return Unchanged, nil
	}
	return Configured, nil
}

// dependsOnWhatIsNotThere reports whether a dry run cannot ask the API server about object, because its namespace or its
// definition would have been created a step before.
func (d *Deployer) dependsOnWhatIsNotThere(ctx context.Context, object *unstructured.Unstructured) bool {
	gvk := object.GroupVersionKind()
	if _, err := d.client.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); meta.IsNoMatchError(err) {
		return true
	}
	if object.GetNamespace() == "" {
		return false
	}
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	return apierrors.IsNotFound(d.client.Get(ctx, client.ObjectKey{Name: object.GetNamespace()}, namespace))
}

// refused says what the API server has against object, and what to do about the usual reasons.
func refused(object *unstructured.Unstructured, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: the API server did not answer in time: %w", describe(object), err)
	}
	if immutable(err) {
		return fmt.Errorf("%s: %w: delete the object, and deploy again", describe(object), err)
	}
	if strings.HasSuffix(err.Error(), "field not declared in schema") {
		return fmt.Errorf("%s: %w: take the field out of its manifest, or add it to the definition of its kind", describe(object), err)
	}
	return fmt.Errorf("%s: %w", describe(object), err)
}

func immutable(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return strings.Contains(c.Message, "immutable")
	})
}

// awaitWorkloads waits until what objects run is available.
func (d *Deployer) awaitWorkloads(ctx context.Context, objects []*unstructured.Unstructured, options ApplyOptions) error {
	if d.dryRun || options.NoWait {
		return nil
	}
	for _, object := range objects {
		if rolledOut := rolloutOf(object); rolledOut != nil {
			if err := d.await(ctx, object, rolledOut); err != nil {
				return d.withPodReasons(object, err)
			}
		}
	}
	return nil
}

// reasonTime bounds what is asked of the cluster when a wait has already failed.
const reasonTime = 5 * time.Second

// permitted says what to do about an err that is a lack of permission, to read or to write whatever it was.
func permitted(err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("%w: use a kubeconfig or --context whose user may do this", err)
	}
	return err
}
