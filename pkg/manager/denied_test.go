package manager_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller"
)

// userWho returns a configuration for a user of that name who may only list and watch these resources.
func userWho(t *testing.T, config *rest.Config, name string, resources ...string) *rest.Config {
	t.Helper()
	allow(t, config, name, resources...)
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{UserName: name}
	return as
}

// allow lets a user list and watch resources.
func allow(t *testing.T, config *rest.Config, user string, resources ...string) {
	t.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := user + "-" + strings.Join(resources, "-")
	for _, o := range []client.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: resources, Verbs: []string{"get", "list", "watch"}}},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user, APIGroup: rbacv1.GroupName}},
		},
	} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Delete(context.Background(), o); err != nil {
				t.Error(err)
			}
		})
	}
}

// lines are what was logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(_, line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, line)
	}, funcr.Options{})
}

// await waits for a line that has all the parts.
func (l *lines) await(t *testing.T, parts ...string) {
	t.Helper()
	has := func(line string) bool {
		for _, part := range parts {
			if !strings.Contains(line, part) {
				return false
			}
		}
		return true
	}
	for deadline := time.Now().Add(atMost); ; time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		all := l.all
		l.mu.Unlock()
		for _, line := range all {
			if has(line) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no line with %q in:\n%s", parts, strings.Join(all, "\n"))
		}
	}
}

// signal is a reconciler that tells when it is called.
func signal() (reconcilerFunc, <-chan struct{}) {
	called := make(chan struct{})
	once := sync.OnceFunc(func() { close(called) })
	return func(context.Context, ctrl.Request) (ctrl.Result, error) {
		once()
		return ctrl.Result{}, nil
	}, called
}

// TestADenialIsReportedAndTheOtherControllersWork is #1653: a denial is told as such, at once, with verb,
// resource and subject. With a negative CacheSyncTimeout the controller waits until it is allowed.
func TestADenialIsReportedAndTheOtherControllersWork(t *testing.T) {
	config := realServer(t)
	var logged lines
	mgr := newManager(t, userWho(t, config, "frog", "configmaps"), ctrl.Options{Logger: logged.logger()})
	allowed, works := signal()
	denied, waits := signal()
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(allowed); err != nil {
		t.Fatal(err)
	}
	secrets, err := ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}).
		WithOptions(controller.Options{CacheSyncTimeout: -1}).Build(denied)
	if err != nil {
		t.Fatal(err)
	}
	ready := controller.ReadyCheck(secrets)
	begin := time.Now()
	stop := start(mgr)
	logged.await(t, "Not allowed to watch a resource", `"verb"="list"`, `"resource"="secrets"`, `"subject"="frog"`)
	t.Logf("the denial is in the log after %s", time.Since(begin))
	await(t, works, "the controller that may watch works")
	logged.await(t, "Workers wait for a source", `"controller"="secret"`, `User \"frog\" cannot list resource \"secrets\"`)

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace(t, config), Name: "fly"}}
	admin, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := ready(nil); err == nil || !strings.Contains(err.Error(), `User "frog" cannot list resource "secrets"`) {
		t.Errorf("ready says %v", err)
	}
	select {
	case <-waits:
		t.Error("it reconciles what it must not see")
	default:
	}
	allow(t, config, "frog", "secrets")
	await(t, waits, "the controller that was allowed later works")
	if err := ready(nil); err != nil {
		t.Errorf("ready says %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestADenialEndsTheManagerAfterCacheSyncTimeout is the contract that controller-runtime has, with the reason.
func TestADenialEndsTheManagerAfterCacheSyncTimeout(t *testing.T) {
	config := realServer(t)
	mgr := newManager(t, userWho(t, config, "toad", "configmaps"), ctrl.Options{})
	never, _ := signal()
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}).
		WithOptions(controller.Options{CacheSyncTimeout: 500 * time.Millisecond}).Complete(never); err != nil {
		t.Fatal(err)
	}
	err := mgr.Start(t.Context())
	if !apierrors.IsForbidden(err) {
		t.Fatalf("Start returned %v, which does not say that it is forbidden", err)
	}
	for _, part := range []string{`controller "secret"`, "500ms", `User "toad" cannot list resource "secrets"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %v", part, err)
		}
	}
	t.Log(err)
}

// TestAKindThatIsNotThere is #1179 and #2456: a CRD that has yet to come ends the manager only when
// CacheSyncTimeout is over, and not at all where there is none.
func TestAKindThatIsNotThere(t *testing.T) {
	config := realServer(t)
	gvk := schema.GroupVersionKind{Group: "pond.example.com", Version: "v1", Kind: "Newt"}
	newt := &unstructured.Unstructured{}
	newt.SetGroupVersionKind(gvk)
	never, _ := signal()

	ends := newManager(t, config, ctrl.Options{})
	if err := ctrl.NewControllerManagedBy(ends).For(newt).
		WithOptions(controller.Options{CacheSyncTimeout: 500 * time.Millisecond}).Complete(never); err != nil {
		t.Fatal(err)
	}
	err := ends.Start(t.Context())
	if !meta.IsNoMatchError(err) || !strings.Contains(err.Error(), `controller "newt"`) {
		t.Errorf("Start returned %v, which does not say what is missing", err)
	}

	var logged lines
	waits := newManager(t, config, ctrl.Options{Logger: logged.logger()})
	if err := ctrl.NewControllerManagedBy(waits).For(newt).
		WithOptions(controller.Options{CacheSyncTimeout: -1}).Complete(never); err != nil {
		t.Fatal(err)
	}
	other, works := signal()
	if err := ctrl.NewControllerManagedBy(waits).For(&corev1.Namespace{}).Complete(other); err != nil {
		t.Fatal(err)
	}
	stop := start(waits)
	await(t, works, "the other controller works")
	logged.await(t, "Workers wait for a source", `"controller"="newt"`, `no matches for kind \"Newt\"`)
	if err := stop(); err != nil {
		t.Error(err)
	}
}
