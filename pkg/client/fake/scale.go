package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/operon-dev/operon/pkg/client"
)

var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// scalePaths are where a kind keeps what its scale is made of.
type scalePaths struct {
	wanted, present []string
	// selector is the path of a selector in its text form; without it, spec.selector holds one.
	selector []string
}

func (k *kind) scalePaths() scalePaths {
	if k.definition == nil || k.definition.Scale == nil {
		return scalePaths{wanted: []string{"spec", "replicas"}, present: []string{"status", "replicas"}}
	}
	path := func(p string) []string { return strings.Split(strings.TrimPrefix(p, "."), ".") }
	s := k.definition.Scale
	paths := scalePaths{wanted: path(s.SpecReplicasPath), present: path(s.StatusReplicasPath), selector: []string{}}
	if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
		paths.selector = path(*s.LabelSelectorPath)
	}
	return paths
}

func fieldRequired(detail string, path ...string) field.ErrorList {
	return field.ErrorList{field.Required(field.NewPath(path[0], path[1:]...), detail)}
}

// scaleOf returns the scale of an object. To be read, custom resources must have a number of replicas; to
// be written, they need not.
func (k *kind) scaleOf(e *entry, written bool) (*autoscalingv1.Scale, error) {
	u, err := k.asMap(e.obj)
	if err != nil {
		return nil, err
	}
	paths := k.scalePaths()
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: u.GetName(), Namespace: u.GetNamespace(), UID: u.GetUID(),
		ResourceVersion: u.GetResourceVersion(), CreationTimestamp: u.GetCreationTimestamp(),
	}}
	wanted, found, err := unstructured.NestedInt64(u.Object, paths.wanted...)
	if err == nil && !found && !written && k.definition != nil {
		err = fmt.Errorf("the spec replicas field %q does not exist", k.definition.Scale.SpecReplicasPath)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	present, _, err := unstructured.NestedInt64(u.Object, paths.present...)
	if err != nil {
		return nil, err
	}
	scale.Spec.Replicas, scale.Status.Replicas = int32(wanted), int32(present)
	scale.Status.Selector, err = selectorText(u.Object, paths.selector)
	return scale, err
}

// selectorText returns the selector of a scale in its text form.
func selectorText(object map[string]any, path []string) (string, error) {
	if path != nil {
		if len(path) == 0 {
			return "", nil
		}
		text, _, err := unstructured.NestedString(object, path...)
		return text, err
	}
	value, _, err := unstructured.NestedFieldNoCopy(object, "spec", "selector")
	raw, ok := value.(map[string]any)
	if err != nil || !ok {
		return "", err
	}
	if _, ok := raw["matchLabels"]; !ok && raw["matchExpressions"] == nil {
		plain, _, err := unstructured.NestedStringMap(object, "spec", "selector")
		return labels.SelectorFromSet(plain).String(), err
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &selector); err != nil {
		return "", err
	}
	parsed, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return "", err
	}
	return parsed.String(), nil
}

// answerScale puts the scale of an object into body.
func (s *server) answerScale(k *kind, e *entry, body client.Object) error {
	scale, err := k.scaleOf(e, false)
	if err != nil {
		return err
	}
	return fillScale(scale, body)
}

func fillScale(scale *autoscalingv1.Scale, body client.Object) error {
	switch body := body.(type) {
	case *autoscalingv1.Scale:
		*body = *scale
		return nil
	case runtime.Unstructured:
		data, err := json.Marshal(scale)
		if err != nil {
			return err
		}
		content := map[string]any{}
		if err := utiljson.Unmarshal(data, &content); err != nil {
			return err
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetGroupVersionKind(scaleKind)
		body.SetUnstructuredContent(u.Object)
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the body is a %T, not a Scale", body))
}

// readScale returns the scale that body holds.
func readScale(body client.Object) (*autoscalingv1.Scale, error) {
	scale := &autoscalingv1.Scale{}
	switch body := body.(type) {
	case *autoscalingv1.Scale:
		*scale = *body
		return scale, nil
	case runtime.Unstructured:
		return scale, runtime.DefaultUnstructuredConverter.FromUnstructured(body.UnstructuredContent(), scale)
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("the body is a %T, not a Scale", body))
}

// hidesScaling says whether the one who scaled to next is not seen to own the number of replicas. The field managers of servers
// look at the scale: it has no field for a number of zero, and a number that nobody owned before is not tracked.
func (k *kind) hidesScaling(next *unstructured.Unstructured, former []metav1.ManagedFieldsEntry) bool {
	wanted := k.scalePaths().wanted
	if replicas, _, err := unstructured.NestedInt64(next.Object, wanted...); err != nil || replicas == 0 {
		return true
	}
	var path fieldpath.Path
	for _, field := range wanted {
		path = append(path, fieldpath.PathElement{FieldName: &field})
	}
	for _, entry := range former {
		var fields fieldpath.Set
		if entry.FieldsV1 != nil && fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) == nil && fields.Has(path) {
			return false
		}
	}
	return true
}

// updateScale scales the object at key as body says.
func (s *server) updateScale(k *kind, key types.NamespacedName, body client.Object, o writeOptions) error {
	scale, err := readScale(body)
	if err != nil {
		return err
	}
	e, err := s.scaled(k, key, o, func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error) { return scale, nil })
	if err != nil {
		return err
	}
	return s.answerScale(k, e, body)
}

// patchScale scales obj as a patch says, which is made of body. Without a body it is made of obj, and the answer goes there.
func (s *server) patchScale(k *kind, obj, body client.Object, patch client.Patch, sent *metav1.PatchOptions) error {
	if patch.Type() == types.ApplyPatchType {
		return apierrors.NewBadRequest("a scale is applied with Apply")
	}
	if err := checkPatchOptions(false, sent.Force, sent.FieldManager, sent.DryRun); err != nil {
		return err
	}
	of := body
	if of == nil {
		of = obj
	}
	data, err := patch.Data(of)
	if err != nil {
		return err
	}
	o := writeOptions{dryRun: dry(sent.DryRun), manager: sent.FieldManager, subresource: "scale"}
	e, err := s.scaled(k, keyOf(obj), o, func(scale *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
		original, err := json.Marshal(scale)
		if err != nil {
			return nil, err
		}
		next, err := patched(original, patch.Type(), data, &autoscalingv1.Scale{})
		if err != nil {
			return nil, err
		}
		scale = &autoscalingv1.Scale{}
		return scale, utiljson.Unmarshal(next, scale)
	})
	switch {
	case err != nil:
		return err
	case body == nil:
		return s.answer(k, e, obj)
	default:
		return s.answerScale(k, e, body)
	}
}

// scaled gives the object at key the scale that change makes of its present one.
func (s *server) scaled(k *kind, key types.NamespacedName, o writeOptions, change func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error)) (*entry, error) {
	o.anyVersion = true
	return s.update(k, key, func(old *entry) (client.Object, error) {
		present, err := k.scaleOf(old, true)
		if err != nil {
			return nil, err
		}
		scale, err := change(present)
		if err != nil {
			return nil, err
		}
		if err := k.refuseScale(old.obj, scale); err != nil {
			return nil, err
		}
		u, err := k.asMap(old.obj)
		if err != nil {
			return nil, err
		}
		if err := unstructured.SetNestedField(u.Object, int64(scale.Spec.Replicas), k.scalePaths().wanted...); err != nil {
			return nil, err
		}
		return k.admit(u)
	}, o)
}

// refuseScale returns what is wrong with a scale for obj, but for what will be found wrong with the object that it makes: of a custom
// resource, a number below zero is.
func (k *kind) refuseScale(obj client.Object, scale *autoscalingv1.Scale) error {
	if scale.Spec.Replicas < 0 && k.definition == nil {
		return apierrors.NewInvalid(scaleKind.GroupKind(), obj.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), scale.Spec.Replicas, "must be greater than or equal to 0")})
	}
	if version := scale.ResourceVersion; version != "" && version != obj.GetResourceVersion() {
		return k.modified(obj.GetName())
	}
	return nil
}

// applyScale applies the scale that fields hold to the object that config names. Both learn what has become of it.
func (s *server) applyScale(named applied, config, fields any, sent *metav1.PatchOptions) error {
	if err := checkPatchOptions(true, sent.Force, sent.FieldManager, sent.DryRun); err != nil {
		return err
	}
	body, err := s.kinds.applied(fields)
	if err != nil {
		return err
	}
	if body.GroupVersionKind() != scaleKind {
		return apierrors.NewBadRequest(fmt.Sprintf("the body is a %s, not a Scale", body.GroupVersionKind()))
	}
	k := named.kind
	scaled := emptyOf(k, named.Unstructured)
	scaled.SetResourceVersion(body.GetResourceVersion())
	if replicas, found, err := unstructured.NestedInt64(body.Object, "spec", "replicas"); err != nil {
		return apierrors.NewBadRequest(err.Error())
	} else if found {
		if err := unstructured.SetNestedField(scaled.Object, replicas, k.scalePaths().wanted...); err != nil {
			return err
		}
	}
	o := writeOptions{dryRun: dry(sent.DryRun), manager: sent.FieldManager, subresource: "scale"}
	e, err := s.apply(applied{Unstructured: scaled, kind: k}, o, forced(sent.Force))
	if err != nil {
		return err
	}
	scale := &unstructured.Unstructured{}
	if err := s.answerScale(k, e, scale); err != nil {
		return err
	}
	if config != fields {
		if err := s.answerApplied(k, e, config); err != nil {
			return err
		}
	}
	return fillApplied(fields, scale.Object)
}
