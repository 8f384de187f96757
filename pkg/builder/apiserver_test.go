package builder_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/builder"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/reconcile"
)

func start(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON does not name the operon binary, which starts the API server")
	}
	env := &envtest.Environment{Controllers: true}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cfg
}

// run starts a manager whose controllers setup builds, and stops it when the test ends.
func run(t *testing.T, cfg *rest.Config, setup func(manager.Manager) error) manager.Manager {
	t.Helper()
	mgr, err := manager.New(cfg, manager.Options{
		Logger:  testr.New(t),
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := setup(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return mgr
}

// eventually tries until there is no error.
func eventually(t *testing.T, within time.Duration, what string, try func() error) time.Duration {
	t.Helper()
	begin := time.Now()
	for {
		err := try()
		took := time.Since(begin)
		if err == nil {
			return took
		}
		if took > within {
			t.Fatalf("%s: not within %v: %v", what, within, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// mirror keeps a Secret for each ConfigMap labelled so, with its data.
type mirror struct {
	client.Client
	calls chan reconcile.Request
}

func (m mirror) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	select {
	case m.calls <- req:
	default:
	}
	var source corev1.ConfigMap
	if err := m.Get(ctx, req.NamespacedName, &source); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if source.Labels["mirror"] == "" {
		return reconcile.Result{}, nil
	}
	controller := true
	want := corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: source.Namespace, Name: source.Name,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "ConfigMap", Name: source.Name, UID: source.UID, Controller: &controller,
			}},
		},
		Data: map[string][]byte{"value": []byte(source.Data["value"])},
	}
	var is corev1.Secret
	err := m.Get(ctx, req.NamespacedName, &is)
	switch {
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, m.Create(ctx, &want)
	case err != nil:
		return reconcile.Result{}, err
	case string(is.Data["value"]) == source.Data["value"]:
		return reconcile.Result{}, nil
	}
	is.Data = want.Data
	return reconcile.Result{}, m.Update(ctx, &is)
}

func TestControllerKeepsWhatItOwnsAsItShouldBe(t *testing.T) {
	cfg := start(t)
	direct, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	key := client.ObjectKey{Namespace: "default", Name: "frog"}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"mirror": "yes"}},
		Data:       map[string]string{"value": "green"},
	}
	if err := direct.Create(ctx, cm); err != nil {
		t.Fatal(err)
	}

	calls := make(chan reconcile.Request, 1000)
	begin := time.Now()
	run(t, cfg, func(mgr manager.Manager) error {
		return builder.ControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(mirror{mgr.GetClient(), calls})
	})
	<-calls
	t.Logf("from nothing to the first reconciliation: %v", time.Since(begin))

	secret := &corev1.Secret{}
	holds := func(value string) func() error {
		return func() error {
			if err := direct.Get(ctx, key, secret); err != nil {
				return err
			}
			if got := string(secret.Data["value"]); got != value {
				return apierrors.NewBadRequest("the secret holds " + got)
			}
			return nil
		}
	}
	const soon = 5 * time.Second
	eventually(t, soon, "what was there before the controller is reconciled", holds("green"))

	cm.Data["value"] = "blue"
	if err := direct.Update(ctx, cm); err != nil {
		t.Fatal(err)
	}
	t.Logf("update of the object: %v", eventually(t, soon, "an update is reconciled", holds("blue")))

	secret.Data["value"] = []byte("mud")
	if err := direct.Update(ctx, secret); err != nil {
		t.Fatal(err)
	}
	t.Logf("drift: %v", eventually(t, soon, "drift of an owned object is repaired", holds("blue")))

	if err := direct.Delete(ctx, secret); err != nil {
		t.Fatal(err)
	}
	t.Logf("deletion: %v", eventually(t, soon, "an owned object that was deleted is made again", holds("blue")))

	if err := direct.Delete(ctx, cm); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "an owned object goes with its owner", func() error {
		if err := direct.Get(ctx, key, secret); !apierrors.IsNotFound(err) {
			return apierrors.NewConflict(schema.GroupResource{}, key.Name, err)
		}
		return nil
	})
}

func TestControllerOfAKindThatComesLaterDoesNotHoldUpTheOthers(t *testing.T) {
	cfg := start(t)
	gvk := schema.GroupVersionKind{Group: "pond.example.com", Version: "v1", Kind: "Frog"}
	frog := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u
	}
	early, late := make(chan string, 1000), make(chan string, 1000)
	send := func(to chan string) reconcile.Func {
		return func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			to <- r.Name
			return reconcile.Result{}, nil
		}
	}
	run(t, cfg, func(mgr manager.Manager) error {
		if err := builder.ControllerManagedBy(mgr).For(frog()).Complete(send(late)); err != nil {
			return err
		}
		return builder.ControllerManagedBy(mgr).For(&corev1.Namespace{}).Complete(send(early))
	})
	select {
	case <-early:
	case <-time.After(10 * time.Second):
		t.Fatal("a controller waits for the source of another one")
	}

	preserve := true
	if _, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{{
		ObjectMeta: metav1.ObjectMeta{Name: "frogs." + gvk.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gvk.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "frogs", Singular: "frog", Kind: "Frog", ListKind: "FrogList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: gvk.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
			}},
		},
	}}}); err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kermit := frog()
	kermit.SetNamespace("default")
	kermit.SetName("kermit")
	if err := direct.Create(t.Context(), kermit); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	select {
	case name := <-late:
		t.Logf("%s was reconciled %v after it was created", name, time.Since(begin))
	case <-time.After(10 * time.Second):
		t.Fatal("a kind that came late is not picked up")
	}
}
