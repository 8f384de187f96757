package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// applied is an apply configuration as it is sent, with the object that it names.
type applied struct {
	gvk     schema.GroupVersionKind
	at      place
	version string // the resourceVersion, if it says one
	body    []byte
}

// encodeApply encodes config. Everything else about it is read from the encoded form: the accessors of generated types
// differ from one generator to the next, the JSON does not.
func encodeApply(config runtime.ApplyConfiguration) (applied, error) {
	if v := reflect.ValueOf(config); config == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return applied{}, errors.New("the apply configuration is nil")
	}
	body, err := json.Marshal(config)
	if err != nil {
		return applied{}, fmt.Errorf("%T: %w", config, err)
	}
	var named metav1.PartialObjectMetadata
	if err := utiljson.Unmarshal(body, &named); err != nil {
		return applied{}, fmt.Errorf("%T: %w", config, err)
	}
	gvk := named.GroupVersionKind()
	if gvk.Kind == "" {
		return applied{}, runtime.NewMissingKindErr(fmt.Sprintf("%T: apply configurations must name their kind", config))
	}
	if gvk.Version == "" {
		return applied{}, runtime.NewMissingVersionErr(fmt.Sprintf("%T: apply configurations must name their version", config))
	}
	return applied{gvk: gvk, at: place{namespace: named.Namespace, name: named.Name}, version: named.ResourceVersion, body: body}, nil
}

// Apply implements Writer.
func (c *client) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...ApplyOption) error {
	a, err := encodeApply(obj)
	if err != nil {
		return err
	}
	options := (&ApplyOptions{}).ApplyOptions(opts)
	return about(a.gvk, a.at.key(), c.apply(ctx, a, obj, options))
}

// apply sends what a holds, and puts the answer into config.
func (c *client) apply(ctx context.Context, a applied, config runtime.ApplyConfiguration, options *ApplyOptions) error {
	// The answer is decoded as JSON, whatever the kind, which is what the unstructured form asks for.
	r, err := c.wire.resolve(ctx, codec{gvk: a.gvk, form: unstructuredForm, scheme: c.wire.scheme, codecs: c.wire.codecs})
	if err != nil {
		return err
	}
	sent := options.AsPatchOptions()
	req, err := r.request(http.MethodPatch, a.at, sent)
	if err != nil {
		return err
	}
	answered, err := answerOf(req.SetHeader("Content-Type", string(types.ApplyPatchType)).
		SetHeader("Accept", acceptJSON).Body(a.body).Do(ctx))
	if err != nil {
		return err
	}
	kind, err := decodeApplied(answered.body, config)
	if err != nil {
		return err
	}
	if observer := c.observed(sent.DryRun, options.DisableReadYourWritesConsistency); observer != nil && kind == a.gvk {
		observer.ObserveWrite(Written{GVK: a.gvk, JSON: answered.body})
	}
	return nil
}

// decodeApplied makes config what the server answered, and returns the kind of that.
func decodeApplied(body []byte, config runtime.ApplyConfiguration) (schema.GroupVersionKind, error) {
	var kind metav1.TypeMeta
	if err := utiljson.Unmarshal(body, &kind); err != nil {
		return schema.GroupVersionKind{}, err
	}
	if gvk := kind.GroupVersionKind(); isStatus(&gvk) {
		// The server said yes without sending an object.
		return gvk, nil
	}
	if u, ok := config.(*unstructuredApplyConfiguration); ok {
		var content map[string]any
		if err := utiljson.Unmarshal(body, &content); err != nil {
			return schema.GroupVersionKind{}, err
		}
		u.Object = content
		return kind.GroupVersionKind(), nil
	}
	dst := reflect.ValueOf(config)
	if dst.Kind() != reflect.Pointer {
		return kind.GroupVersionKind(), nil
	}
	fresh := reflect.New(dst.Type().Elem())
	if err := json.Unmarshal(body, fresh.Interface()); err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("%T: %w", config, err)
	}
	dst.Elem().Set(fresh.Elem())
	return kind.GroupVersionKind(), nil
}
