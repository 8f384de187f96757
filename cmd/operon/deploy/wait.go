package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	"github.com/operon-dev/operon/pkg/client"
)

// A condition looks at an object, nil when it is gone, and says whether the wait for it is over, and if not, how far it is.
// An error ends the wait at once.
type condition func(object *unstructured.Unstructured) (done bool, status string, err error)

// await watches object until the condition is met, and returns an error that says how far it came when ctx ends first.
func (d *Deployer) await(ctx context.Context, object *unstructured.Unstructured, met condition) error {
	began := time.Now()
	status := ""
	look := func(o *unstructured.Unstructured) (bool, error) {
		done, s, err := met(o)
		if err != nil {
			return false, fmt.Errorf("%s: %w", describe(object), err)
		}
		if status = s; !done {
			d.report.Waiting(describe(object)+": "+status, began)
		}
		return done, nil
	}
	for {
		done, err := d.watchOnce(ctx, object, look)
		if done {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %s after %.0fs: %w", describe(object), status, time.Since(began).Seconds(), context.Cause(ctx))
		}
		if err != nil {
			return err
		}
	}
}

// watchOnce looks at the object now and at each change of it, until look is content, the watch ends, or look returns an error.
func (d *Deployer) watchOnce(ctx context.Context, object *unstructured.Unstructured, look func(*unstructured.Unstructured) (bool, error)) (bool, error) {
	list := &unstructured.UnstructuredList{}
	gvk := object.GroupVersionKind()
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	this := &client.ListOptions{
		Namespace:     object.GetNamespace(),
		FieldSelector: fields.OneTermEqualSelector("metadata.name", object.GetName()),
	}
	if err := d.client.List(ctx, list, this); err != nil {
		return false, fmt.Errorf("%s: %w", describe(object), err)
	}
	var now *unstructured.Unstructured
	if len(list.Items) > 0 {
		now = &list.Items[0]
	}
	if done, err := look(now); done || err != nil {
		return done, err
	}
	this.Raw = &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}
	changes, err := d.client.Watch(ctx, list, this)
	if err != nil {
		return false, fmt.Errorf("%s: %w", describe(object), err)
	}
	defer changes.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C: // for the seconds that the report shows
			if done, err := look(now); done || err != nil {
				return done, err
			}
		case event, open := <-changes.ResultChan():
			if !open || event.Type == watch.Error {
				return false, nil // list and watch anew
			}
			now, _ = event.Object.(*unstructured.Unstructured)
			if event.Type == watch.Deleted {
				now = nil
			}
			if done, err := look(now); done || err != nil {
				return done, err
			}
		}
	}
}

// errVanished ends a wait for something that somebody deletes meanwhile.
var errVanished = errors.New("it was deleted while it was waited for")

// established is met by a custom resource definition whose objects the API server serves.
func established(definition *unstructured.Unstructured) (bool, string, error) {
	if definition == nil {
		return false, "", errVanished
	}
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		switch {
		case c["type"] == "Established" && c["status"] == "True":
			return true, "", nil
		case c["type"] == "NamesAccepted" && c["status"] == "False":
			return false, "", fmt.Errorf("its names are taken by another definition: %v", c["message"])
		}
	}
	return false, "not established yet", nil
}

// listedInterval is the time between two looks at what the API server lists, which cannot be watched.
const listedInterval = 25 * time.Millisecond

// awaitListed waits until discovery lists every version that an established definition serves. The API server does that a moment later, and
// only then can a client tell which resource belongs to the kind.
func (d *Deployer) awaitListed(ctx context.Context, definition *unstructured.Unstructured) error {
	began := time.Now()
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		v, _ := v.(map[string]any)
		version, _ := v["name"].(string)
		if v["served"] != true {
			continue
		}
		for {
			_, err := d.client.RESTMapper().RESTMapping(definedBy(definition), version)
			if err == nil {
				break
			}
			if !meta.IsNoMatchError(err) {
				return fmt.Errorf("what the API server serves: %w", err)
			}
			d.report.Waiting(describe(definition)+": not listed yet", began)
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s: established, but not listed by the API server after %.0fs: %w", describe(definition), time.Since(began).Seconds(), context.Cause(ctx))
			case <-time.After(listedInterval):
			}
		}
	}
	return nil
}

// gone is met by an object that is not there. A definition that is being deleted waits for its objects, so the status says
// what else would help.
func gone(object *unstructured.Unstructured) (bool, string, error) {
	switch {
	case object == nil:
		return true, "", nil
	case len(object.GetFinalizers()) > 0:
		return false, "waiting for its finalizers " + strings.Join(object.GetFinalizers(), ", "), nil
	}
	return false, "being deleted", nil
}

// rolloutOf returns the condition of a workload whose roll-out is complete, nil for other objects.
func rolloutOf(object *unstructured.Unstructured) condition {
	if object.GetKind() == "StatefulSet" {
		// The viewer knows only rolling updates of stateful sets, and calls others an error.
		if strategy, _, _ := unstructured.NestedString(object.Object, "spec", "updateStrategy", "type"); strategy == "OnDelete" {
			return nil
		}
	}
	viewer, err := polymorphichelpers.StatusViewerFor(object.GroupVersionKind().GroupKind())
	if err != nil {
		return nil
	}
	return func(object *unstructured.Unstructured) (bool, string, error) {
		if object == nil {
			return false, "", errVanished
		}
		status, done, err := viewer.Status(object, 0)
		status = strings.TrimSuffix(strings.TrimSpace(status), "...")
		if _, what, ok := strings.Cut(status, " rollout to finish: "); ok {
			status = what
		}
		return done, strings.TrimPrefix(status, "Waiting for "), err
	}
}

// withPodReasons adds to err what keeps the pods of a workload from being ready, where the cluster tells.
func (d *Deployer) withPodReasons(workload *unstructured.Unstructured, err error) error {
	labels, _, _ := unstructured.NestedStringMap(workload.Object, "spec", "selector", "matchLabels")
	if len(labels) == 0 {
		return err
	}
	// The caller's context has ended already.
	ctx, cancel := context.WithTimeout(context.Background(), reasonTime)
	defer cancel()
	pods := &corev1.PodList{}
	if d.client.List(ctx, pods, client.InNamespace(workload.GetNamespace()), client.MatchingLabels(labels)) != nil {
		return err
	}
	var reasons []string
	for i := range pods.Items {
		reasons = append(reasons, podReasons(&pods.Items[i])...)
	}
	if len(pods.Items) == 0 {
		reasons = append(reasons, d.failureOfDeployment(ctx, workload))
	}
	slices.Sort(reasons)
	reasons = slices.DeleteFunc(slices.Compact(reasons), func(s string) bool { return s == "" })
	if len(reasons) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.Join(reasons, "; "))
}

// podReasons says what a pod waits for.
func podReasons(pod *corev1.Pod) []string {
	var reasons []string
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "" {
			reasons = append(reasons, strings.TrimSpace(fmt.Sprintf("container %s: %s %s", c.Name, w.Reason, w.Message)))
		}
		if t := c.LastTerminationState.Terminated; t != nil {
			reasons = append(reasons, fmt.Sprintf("container %s ended with exit code %d (%s)", c.Name, t.ExitCode, t.Reason))
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			reasons = append(reasons, "not scheduled: "+c.Message)
		}
	}
	return reasons
}

// failureOfDeployment says why a deployment makes no pods: a quota, a missing service account, a policy.
func (d *Deployer) failureOfDeployment(ctx context.Context, workload *unstructured.Unstructured) string {
	now := workload.DeepCopy()
	if err := d.client.Get(ctx, client.ObjectKeyFromObject(workload), now); err != nil {
		if apierrors.IsNotFound(err) {
			return "it is not there"
		}
		return ""
	}
	conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
	for _, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == "ReplicaFailure" && c["status"] == "True" {
			return fmt.Sprint(c["message"])
		}
	}
	return ""
}
