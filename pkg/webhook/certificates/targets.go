package certificates

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
)

// leftToOthers are the annotations by which a configuration asks cert-manager for its bundle: that of a Certificate, of a Secret,
// or of the API server (https://cert-manager.io/docs/concepts/ca-injector/).
var leftToOthers = []string{
	"cert-manager.io/inject-ca-from",
	"cert-manager.io/inject-ca-from-secret",
	"cert-manager.io/inject-apiserver-ca",
}

// targetResources are the resources that have client configurations.
var targetResources = []schema.GroupVersionResource{
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
}

// target is an object with client configurations that lead to these webhooks.
type target struct {
	version string     // the object's resourceVersion
	clients []clientAt // never empty
}

// clientAt is one client configuration.
type clientAt struct {
	pointer string // where in the object it is, as a JSON pointer
	bundle  string // its bundle, in base64
}

// targetsOf returns the client configurations of an object that lead to these webhooks.
func targetsOf(u *unstructured.Unstructured, options Options) []clientAt {
	annotations := u.GetAnnotations()
	for _, others := range leftToOthers {
		if _, asks := annotations[others]; asks {
			return nil
		}
	}
	var clients []clientAt
	add := func(config map[string]any, pointer string) {
		if !leadsHere(config, options) {
			return
		}
		bundle, _ := config["caBundle"].(string)
		clients = append(clients, clientAt{pointer: pointer, bundle: bundle})
	}
	if config, ok, _ := unstructured.NestedMap(u.Object, "spec", "conversion", "webhook", "clientConfig"); ok {
		add(config, "/spec/conversion/webhook/clientConfig")
	}
	webhooks, _, _ := unstructured.NestedSlice(u.Object, "webhooks")
	for i, w := range webhooks {
		if hook, ok := w.(map[string]any); ok {
			config, _ := hook["clientConfig"].(map[string]any)
			add(config, "/webhooks/"+strconv.Itoa(i)+"/clientConfig")
		}
	}
	return clients
}

func leadsHere(config map[string]any, options Options) bool {
	if service, ok := config["service"].(map[string]any); ok {
		return options.Service.Name != "" && service["name"] == options.Service.Name && service["namespace"] == options.Service.Namespace
	}
	raw, _ := config["url"].(string)
	if raw == "" {
		return false
	}
	u, err := url.Parse(raw)
	return err == nil && options.reachedBy(u.Host)
}

// targets are the targets of one resource. They are a store that a Reflector fills.
type targets struct {
	resource schema.GroupVersionResource
	client   dynamic.ResourceInterface
	options  Options
	changed  func() // called after each change

	mu     sync.Mutex
	filled bool // a list has arrived, or may not be asked for
	byName map[string]target
}

// Add implements cache.ReflectorStore.
func (t *targets) Add(obj any) error { return t.take(obj, targetsOf) }

// Update implements cache.ReflectorStore.
func (t *targets) Update(obj any) error { return t.take(obj, targetsOf) }

// Delete implements cache.ReflectorStore.
func (t *targets) Delete(obj any) error {
	return t.take(obj, func(*unstructured.Unstructured, Options) []clientAt { return nil })
}

// Replace implements cache.ReflectorStore.
func (t *targets) Replace(objects []any, _ string) error {
	byName := map[string]target{}
	for _, obj := range objects {
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return t.unexpected(obj)
		}
		if found := targetsOf(u, t.options); len(found) > 0 {
			byName[u.GetName()] = target{version: u.GetResourceVersion(), clients: found}
		}
	}
	// At once: somebody who looks meanwhile must not find that no target lacks the bundle.
	t.mu.Lock()
	t.byName = byName
	t.mu.Unlock()
	t.fill()
	return nil
}

func (t *targets) unexpected(obj any) error {
	return fmt.Errorf("%s: unexpected %T", t.resource.Resource, obj)
}

// Resync implements cache.ReflectorStore.
func (t *targets) Resync() error { return nil }

func (t *targets) take(obj any, clients func(*unstructured.Unstructured, Options) []clientAt) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return t.unexpected(obj)
	}
	found := clients(u, t.options)
	t.mu.Lock()
	_, was := t.byName[u.GetName()]
	if len(found) > 0 {
		t.byName[u.GetName()] = target{version: u.GetResourceVersion(), clients: found}
	} else {
		delete(t.byName, u.GetName())
	}
	t.mu.Unlock()
	if was || len(found) > 0 {
		t.changed()
	}
	return nil
}

// fill takes note that there is nothing more to wait for.
func (t *targets) fill() {
	t.mu.Lock()
	t.filled = true
	t.mu.Unlock()
	t.changed()
}

// refused takes note that the resource may not be listed: no bundle can be put there.
func (t *targets) refused(logger logr.Logger, err error) {
	if !apierrors.IsForbidden(err) {
		return
	}
	t.mu.Lock()
	first := !t.filled
	t.mu.Unlock()
	if first {
		logger.Error(err, "these get no CA bundle: to change that, allow this process to list, watch and patch them", "resource", t.resource.Resource)
		t.fill()
	}
}

// lacking returns the targets that have another bundle, and whether all are known.
func (t *targets) lacking(bundle string) (map[string]target, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lacking := map[string]target{}
	for name, target := range t.byName {
		for _, c := range target.clients {
			if c.bundle != bundle {
				lacking[name] = target
			}
		}
	}
	return lacking, t.filled
}

// put puts the bundle into all targets that have another one. It reports where it is: what was just put is only believed when it
// was seen to have arrived.
func (t *targets) put(ctx context.Context, logger logr.Logger, bundle []byte) (whereabouts, error) {
	encoded := base64.StdEncoding.EncodeToString(bundle)
	lacking, known := t.lacking(encoded)
	var errs []error
	locked := 0
	for name, target := range lacking {
		patch, err := target.patch(encoded)
		if err != nil {
			return whereabouts{}, err
		}
		_, err = t.client.Patch(ctx, name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		switch {
		case err == nil:
			logger.Info("CA bundle put in place", "resource", t.resource.Resource, "name", name)
		case apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err):
			// Somebody has changed it meanwhile, as the patch's test says. The change is on its way here, and starts over.
			logger.V(1).Info("CA bundle not put in place yet", "resource", t.resource.Resource, "name", name, "error", err.Error())
		default:
			if apierrors.IsForbidden(err) {
				locked++
			}
			errs = append(errs, fmt.Errorf("CA bundle of %s %s: %w", t.resource.Resource, name, err))
		}
	}
	return whereabouts{everywhere: known && len(lacking) == 0, wherePossible: known && len(lacking) == locked}, errors.Join(errs...)
}

// whereabouts is where the bundle has been seen.
type whereabouts struct {
	everywhere bool // in all targets
	// wherePossible says in all but those that this process may not patch.
	wherePossible bool
}

// patch is a JSON patch that changes the bundles of this version of the object, and no other.
func (t target) patch(bundle string) ([]byte, error) {
	type step struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value"`
	}
	steps := []step{{"test", "/metadata/resourceVersion", t.version}}
	for _, c := range t.clients {
		steps = append(steps, step{"add", c.pointer + "/caBundle", bundle})
	}
	return json.Marshal(steps)
}
