package fake_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake/internal/sidebyside"
)

var (
	configMapKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	leaseKind      = coordinationv1.SchemeGroupVersion.WithKind("Lease")
)

// drawer draws operations.
type drawer struct{ *rand.Rand }

func pick[T any](d drawer, choices ...T) T { return choices[d.IntN(len(choices))] }

func (d drawer) chance(percent int) bool { return d.IntN(100) < percent }

// content returns what an object of kind can hold besides its metadata, complete with all that a server would fill in for
// kinds whose defaults the fake does not know.
func (d drawer) content(kind schema.GroupVersionKind) map[string]any {
	switch kind {
	case configMapKind:
		data := map[string]any{}
		for _, key := range []string{"a", "b", "c"} {
			if d.chance(50) {
				data[key] = pick(d, "1", "2", "3")
			}
		}
		return map[string]any{"data": data}
	case leaseKind:
		return map[string]any{"spec": map[string]any{"holderIdentity": pick(d, "me", "you"), "leaseDurationSeconds": int64(1 + d.IntN(3))}}
	case deploymentKind:
		return map[string]any{"spec": d.deploymentSpec(), "status": map[string]any{"replicas": int64(d.IntN(3))}}
	case gizmoKind:
		return map[string]any{
			"spec":   map[string]any{"size": int64(d.IntN(3)), "color": pick(d, "red", "blue"), "unknown": "x"},
			"status": map[string]any{"ready": int64(d.IntN(3))},
		}
	}
	out := map[string]any{"spec": d.gadgetSpec(true)}
	if d.chance(30) {
		out["status"] = d.gadgetStatus()
	}
	if d.chance(5) {
		delete(out, "spec")
	}
	return out
}

func (d drawer) deploymentSpec() map[string]any {
	container := func(name string) map[string]any {
		return map[string]any{
			"name": name, "image": pick(d, "one:1", "two:2"), "imagePullPolicy": "IfNotPresent", "resources": map[string]any{},
			"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
		}
	}
	containers := []any{container("main")}
	if d.chance(30) {
		containers = append(containers, container("side"))
	}
	labels := map[string]any{"app": "x"}
	return map[string]any{
		"replicas": int64(d.IntN(3)), "paused": true, "revisionHistoryLimit": int64(10), "progressDeadlineSeconds": int64(600),
		"selector": map[string]any{"matchLabels": labels},
		"strategy": map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{
				"containers": containers, "restartPolicy": "Always", "terminationGracePeriodSeconds": int64(30),
				"dnsPolicy": "ClusterFirst", "securityContext": map[string]any{}, "schedulerName": "default-scheduler",
			},
		},
	}
}

// gadgetSpec returns a spec; whole ones have the required field, mostly.
func (d drawer) gadgetSpec(whole bool) map[string]any {
	spec := map[string]any{}
	maybe := func(percent int, field string, value any) {
		if d.chance(percent) {
			spec[field] = value
		}
	}
	if whole {
		maybe(93, "color", pick(d, "red", "blue"))
	} else {
		maybe(30, "color", pick(d, "red", "blue", "blue", "green"))
	}
	maybe(40, "size", pick[any](d, int64(0), int64(5), int64(10), int64(5), int64(11), nil))
	maybe(20, "note", pick[any](d, "n", nil))
	maybe(30, "replicas", pick(d, int64(d.IntN(4)), int64(d.IntN(4)), int64(d.IntN(4)), int64(-1), int64(1)<<31))
	maybe(15, "port", pick[any](d, int64(80), "http"))
	maybe(15, "unknown", "x")
	maybe(20, "extra", map[string]any{"any": map[string]any{"thing": pick(d, "x", "y")}})
	maybe(30, "words", pick(d, []any{"a"}, []any{"a", "b"}, []any{"b", "b"}))
	maybe(30, "tags", pick(d, []any{"a"}, []any{"a", "b"}, []any{"c"}, []any{"c", "c"}))
	part := func(name string) map[string]any {
		p := map[string]any{"name": name}
		if d.chance(50) {
			p["count"] = int64(d.IntN(3))
		}
		return p
	}
	maybe(40, "parts", pick(d, []any{part("x")}, []any{part("x"), part("y")}, []any{part("y")}, []any{map[string]any{"count": int64(2)}}))
	return spec
}

func (d drawer) gadgetStatus() map[string]any {
	status := map[string]any{"ready": int64(d.IntN(3))}
	if d.chance(40) {
		status["message"] = pick(d, "fine", "bad")
	}
	if d.chance(30) {
		status["replicas"], status["selector"] = int64(d.IntN(4)-1), "a=b"
	}
	return status
}

// metadata draws labels, annotations and finalizers.
func (d drawer) metadata() map[string]any {
	meta := map[string]any{}
	if d.chance(50) {
		meta["labels"] = map[string]any{"team": pick(d, "one", "two")}
	}
	if d.chance(20) {
		meta["annotations"] = map[string]any{"note": pick(d, "x", "y")}
	}
	if d.chance(15) {
		meta["finalizers"] = pick(d, []any{"example.com/a"}, []any{"example.com/a", "example.com/b"})
	}
	return meta
}

func (d drawer) status(kind schema.GroupVersionKind) map[string]any {
	if kind == deploymentKind {
		n := int64(d.IntN(3))
		return map[string]any{"replicas": n, "updatedReplicas": n, "observedGeneration": int64(1)}
	}
	status := d.gadgetStatus()
	if d.chance(5) {
		status["ready"] = "many"
	}
	return status
}

// with returns the object that content and metadata describe.
func with(u *unstructured.Unstructured, content, metadata map[string]any) *unstructured.Unstructured {
	drawn := (&unstructured.Unstructured{Object: content}).DeepCopy().Object
	for field, value := range drawn {
		u.Object[field] = value
	}
	meta := u.Object["metadata"].(map[string]any)
	for field, value := range (&unstructured.Unstructured{Object: metadata}).DeepCopy().Object {
		meta[field] = value
	}
	return u
}

// draw returns an operation on one of a few objects.
func (d drawer) draw() sidebyside.Operation {
	kind := pick(d, configMapKind, deploymentKind, gadgetKind, gadgetKind, gadgetKind, gizmoKind, leaseKind)
	name := pick(d, "a", "b")
	draws := []struct {
		weight int
		draw   func(schema.GroupVersionKind, string) sidebyside.Operation
	}{
		{16, d.create}, {10, d.replace}, {12, d.modify}, {12, d.mergePatch}, {6, d.jsonPatch}, {4, d.strategicPatch},
		{8, d.replaceStatus}, {6, d.patchStatus}, {6, d.scale}, {14, d.apply}, {6, d.applyStatus}, {6, d.delete},
		{2, d.deleteAll}, {4, d.list}, {3, d.finalize},
	}
	total := 0
	for _, c := range draws {
		total += c.weight
	}
	n := d.IntN(total)
	for _, c := range draws {
		if n -= c.weight; n < 0 {
			return c.draw(kind, name)
		}
	}
	panic("unreachable")
}

const owner = client.FieldOwner("plain")

func (d drawer) dryRun() bool { return d.chance(8) }

func (d drawer) create(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	content, metadata, dry := d.content(kind), d.metadata(), d.dryRun()
	if kind == deploymentKind {
		// That it is kept is among the intended differences.
		delete(content, "status")
	}
	if d.chance(3) {
		metadata["resourceVersion"] = "7"
	}
	return sidebyside.On(kind, name, fmt.Sprintf("create dry=%v %s %s", dry, sidebyside.Encode(content), sidebyside.Encode(metadata)), func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := with(w.Object(kind, name), content, metadata)
		opts := []client.CreateOption{owner}
		if dry {
			opts = append(opts, client.DryRunAll)
		}
		err := w.Create(ctx, u, opts...)
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) replace(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	content, metadata, dry := d.content(kind), d.metadata(), d.dryRun()
	version := pick(d, "current", "current", "current", "none", "stale")
	return sidebyside.On(kind, name, fmt.Sprintf("replace version=%s dry=%v %s %s", version, dry, sidebyside.Encode(content), sidebyside.Encode(metadata)), func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := with(w.Object(kind, name), content, metadata)
		u.SetResourceVersion(w.Version(version, kind, name))
		if now, err := w.Current(ctx, kind, name); err != nil {
			return nil, err
		} else if now != nil {
			// A deletionTimestamp that is left out is among the intended differences.
			u.SetDeletionTimestamp(now.GetDeletionTimestamp())
		}
		opts := []client.UpdateOption{owner}
		if dry {
			opts = append(opts, client.DryRunAll)
		}
		err := w.Update(ctx, u, opts...)
		return sidebyside.Normal(u.Object), err
	})
}

// modify reads an object, changes a part of it and writes it back, as controllers do.
func (d drawer) modify(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	content, metadata := d.content(kind), d.metadata()
	by := pick(d, "plain", "other")
	nothing := d.chance(20)
	if nothing {
		content, metadata = map[string]any{}, map[string]any{}
	}
	return sidebyside.On(kind, name, fmt.Sprintf("modify by=%s %s %s", by, sidebyside.Encode(content), sidebyside.Encode(metadata)), func(ctx context.Context, w *sidebyside.World) (any, error) {
		u, err := w.Current(ctx, kind, name)
		if err != nil || u == nil {
			return nil, err
		}
		with(u, content, metadata)
		err = w.Update(ctx, u, client.FieldOwner(by))
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) mergePatch(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	doc := map[string]any{}
	if d.chance(70) {
		doc = d.content(kind)
		if kind == gadgetKind {
			doc["spec"] = d.gadgetSpec(false)
		}
	}
	doc["metadata"] = d.metadata()
	if d.chance(10) {
		doc["metadata"].(map[string]any)["labels"] = nil
	}
	version, dry := pick(d, "", "", "", "current", "stale"), d.dryRun()
	text := fmt.Sprintf("merge patch version=%s dry=%v %s", version, dry, sidebyside.Encode(doc))
	return sidebyside.On(kind, name, text, func(ctx context.Context, w *sidebyside.World) (any, error) {
		sent := (&unstructured.Unstructured{Object: doc}).DeepCopy().Object
		if version != "" {
			sent["metadata"].(map[string]any)["resourceVersion"] = w.Version(version, kind, name)
		}
		opts := []client.PatchOption{owner}
		if dry {
			opts = append(opts, client.DryRunAll)
		}
		u := w.Object(kind, name)
		err := w.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(sidebyside.Encode(sent))), opts...)
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) jsonPatch(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	doc := pick(d,
		`[{"op":"add","path":"/metadata/labels","value":{"team":"one"}}]`,
		`[{"op":"remove","path":"/metadata/labels"}]`,
		`[{"op":"test","path":"/metadata/labels/team","value":"one"},{"op":"replace","path":"/metadata/labels/team","value":"two"}]`,
		`[{"op":"replace","path":"/spec/color","value":"blue"}]`,
		`[{"op":"add","path":"/data","value":{"a":"9"}}]`,
		`[{"op":"add","path":"/data/a","value":7}]`,
		`[{"op":"copy","from":"/metadata/name","path":"/metadata/annotations"}]`,
		`[{"op":`,
		`{"op":"add"}`,
	)
	return sidebyside.On(kind, name, "JSON patch "+doc, func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := w.Object(kind, name)
		err := w.Patch(ctx, u, client.RawPatch(types.JSONPatchType, []byte(doc)), owner)
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) strategicPatch(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	doc := pick(d,
		`{"metadata":{"labels":{"team":"two"},"finalizers":["example.com/c"]}}`,
		`{"data":{"a":"5","b":null}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"three:3"}]}}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}`,
		`{"spec":{"replicas":"many"}}`,
	)
	return sidebyside.On(kind, name, "strategic merge patch "+doc, func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := w.Object(kind, name)
		err := w.Patch(ctx, u, client.RawPatch(types.StrategicMergePatchType, []byte(doc)), owner)
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) replaceStatus(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	status, version := d.status(kind), pick(d, "current", "current", "current", "stale", "none")
	return sidebyside.On(kind, name, fmt.Sprintf("replace status version=%s %s", version, sidebyside.Encode(status)), func(ctx context.Context, w *sidebyside.World) (any, error) {
		u, err := w.Current(ctx, kind, name)
		if err != nil {
			return nil, err
		}
		if u == nil {
			u = w.Object(kind, name)
		}
		u.Object["status"] = (&unstructured.Unstructured{Object: status}).DeepCopy().Object
		if spec, ok := u.Object["spec"].(map[string]any); ok {
			spec["replicas"] = int64(9)
		}
		u.SetResourceVersion(w.Version(version, kind, name))
		err = w.Status().Update(ctx, u, owner)
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) patchStatus(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	doc := map[string]any{"status": d.status(kind), "spec": map[string]any{"replicas": int64(8)}}
	return sidebyside.On(kind, name, "merge patch of status "+sidebyside.Encode(doc), func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := w.Object(kind, name)
		err := w.Status().Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(sidebyside.Encode(doc))), owner)
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) scale(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	how, replicas := pick(d, "read", "update", "patch"), int32(d.IntN(5)-1)
	version := pick(d, "", "", "current", "stale")
	return sidebyside.On(kind, name, fmt.Sprintf("scale how=%s replicas=%d version=%s", how, replicas, version), func(ctx context.Context, w *sidebyside.World) (any, error) {
		u, scale := w.Object(kind, name), &autoscalingv1.Scale{}
		c := w.SubResource("scale")
		if now := (&autoscalingv1.Scale{}); how != "read" && c.Get(ctx, u, now) == nil && now.Spec.Replicas == replicas {
			return "there already", nil // see the intended differences
		}
		var err error
		switch how {
		case "read":
			err = c.Get(ctx, u, scale)
		case "update":
			scale.Name, scale.Namespace, scale.Spec.Replicas = name, w.Namespace, replicas
			scale.ResourceVersion = w.Version(version, kind, name)
			err = c.Update(ctx, u, client.WithSubResourceBody(scale), owner)
		case "patch":
			doc := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
			err = c.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(doc)), client.WithSubResourceBody(scale), owner)
		}
		return []any{scale.Name, scale.Spec.Replicas, scale.Status.Replicas, scale.Status.Selector}, err
	})
}

func (d drawer) apply(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	content, metadata := d.content(kind), d.metadata()
	if kind == gadgetKind && d.chance(60) {
		content = map[string]any{"spec": d.gadgetSpec(false)}
	}
	by, force, dry := pick(d, "red", "blue"), d.chance(50), d.dryRun()
	if d.chance(5) {
		metadata["resourceVersion"] = "4000000"
	}
	text := fmt.Sprintf("apply by=%s force=%v dry=%v %s %s", by, force, dry, sidebyside.Encode(content), sidebyside.Encode(metadata))
	return sidebyside.On(kind, name, text, func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := with(w.Object(kind, name), content, metadata)
		opts := []client.ApplyOption{client.FieldOwner(by)}
		if force {
			opts = append(opts, client.ForceOwnership)
		}
		if dry {
			opts = append(opts, client.DryRunAll)
		}
		err := w.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), opts...)
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) applyStatus(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	status, by := d.status(kind), pick(d, "red", "status")
	return sidebyside.On(kind, name, fmt.Sprintf("apply status by=%s %s", by, sidebyside.Encode(status)), func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := with(w.Object(kind, name), map[string]any{"status": status}, nil)
		err := w.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), &client.SubResourceApplyOptions{
			ApplyOptions: client.ApplyOptions{FieldManager: by, Force: ptr.To(true)},
		})
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) delete(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	version, dry := pick(d, "", "", "", "current", "stale"), d.dryRun()
	badUID := d.chance(8)
	return sidebyside.On(kind, name, fmt.Sprintf("delete version=%s uid=%v dry=%v", version, badUID, dry), func(ctx context.Context, w *sidebyside.World) (any, error) {
		opts := []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}
		if version != "" {
			opts = append(opts, client.Preconditions{ResourceVersion: ptr.To(w.Version(version, kind, name))})
		}
		if badUID {
			opts = append(opts, client.Preconditions{UID: ptr.To[types.UID]("another")})
		}
		if dry {
			opts = append(opts, client.DryRunAll)
		}
		return nil, w.Delete(ctx, w.Object(kind, name), opts...)
	})
}

// finalize removes what holds an object.
func (d drawer) finalize(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	doc := pick(d, `{"metadata":{"finalizers":null}}`, `{"metadata":{"finalizers":["example.com/a"]}}`, `{"metadata":{"finalizers":["example.com/new"]}}`)
	return sidebyside.On(kind, name, "merge patch "+doc, func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := w.Object(kind, name)
		return nil, w.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(doc)), owner)
	})
}

func (d drawer) deleteAll(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	team := pick(d, "one", "two")
	return sidebyside.On(kind, name, "delete all of team "+team, func(ctx context.Context, w *sidebyside.World) (any, error) {
		return nil, w.DeleteAllOf(ctx, w.Object(kind, ""), client.InNamespace(w.Namespace), client.MatchingLabels{"team": team},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
	})
}

func (d drawer) list(kind schema.GroupVersionKind, name string) sidebyside.Operation {
	opts := pick(d,
		[]client.ListOption{client.MatchingLabels{"team": "one"}},
		[]client.ListOption{client.HasLabels{"team"}},
		[]client.ListOption{client.Limit(1)},
		[]client.ListOption{client.MatchingFields{"metadata.name": "a"}},
	)
	text := fmt.Sprintf("list %v", opts)
	return sidebyside.On(kind, name, text, func(ctx context.Context, w *sidebyside.World) (any, error) {
		var names []any
		token := ""
		for {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			if err := w.List(ctx, list, append([]client.ListOption{client.InNamespace(w.Namespace), client.Continue(token)}, opts...)...); err != nil {
				return nil, err
			}
			page := []any{list.GetRemainingItemCount() != nil}
			for _, item := range list.Items {
				if item.GetName() != "kube-root-ca.crt" {
					page = append(page, item.GetName())
				}
			}
			names = append(names, page)
			if token = list.GetContinue(); token == "" {
				return names, nil
			}
		}
	})
}
