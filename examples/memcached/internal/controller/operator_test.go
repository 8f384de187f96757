package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/cluster"
	"github.com/operon-dev/operon/pkg/envtest"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

// patience is how long a test waits for what is promised to come about.
const patience = 30 * time.Second

// operator is the operator at work on a control plane. It is shared by the tests, each of which has a namespace of its
// own; nil when there is no control plane to be had.
var operator *underTest

type underTest struct {
	client.Client // an administrator's, which reads what it watches
	scheme        *runtime.Scheme

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
}

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	if os.Getenv("OPERON") == "" {
		return m.Run()
	}
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		Nodes:                 2,
	}
	cfg, err := env.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	operator, err = startOperator(ctx, cfg, &running)
	code := 1
	if err == nil {
		code = m.Run()
	}
	cancel()
	running.Wait()
	if err := errors.Join(err, env.Stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// startOperator runs the operator as a user who may do what config/rbac says, and nothing else.
func startOperator(ctx context.Context, cfg *rest.Config, running *sync.WaitGroup) (*underTest, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	admin, err := cluster.New(cfg, func(o *cluster.Options) { o.Scheme = scheme })
	if err != nil {
		return nil, err
	}
	u := &underTest{Client: admin.GetClient(), scheme: scheme, changed: make(chan struct{})}
	running.Go(func() { _ = admin.Start(ctx) }) // ends with the context
	for _, kind := range []client.Object{
		&cachev1alpha1.Memcached{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &corev1.Service{}, &corev1.Pod{}, &eventsv1.Event{},
	} {
		informer, err := admin.GetCache().GetInformer(ctx, kind)
		if err != nil {
			return nil, err
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: u.wake, UpdateFunc: func(_, obj any) { u.wake(obj) }, DeleteFunc: u.wake,
		}); err != nil {
			return nil, err
		}
	}

	const user = "memcached-operator"
	if err := u.grant(ctx, user); err != nil {
		return nil, err
	}
	cfg = rest.CopyConfig(cfg)
	cfg.Impersonate.UserName = user
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme, Cache: CacheOptions(), Metrics: metricsserver.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: user, LeaderElectionNamespace: metav1.NamespaceDefault,
	})
	if err != nil {
		return nil, err
	}
	reconciler := &MemcachedReconciler{Client: mgr.GetClient(), Scheme: scheme, Recorder: mgr.GetEventRecorder("memcached-controller")}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return nil, err
	}
	running.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "manager:", err)
		}
	})
	return u, nil
}

// grant gives user what config/rbac gives the operator's service account.
func (u *underTest) grant(ctx context.Context, user string) error {
	clusterRole, role := &rbacv1.ClusterRole{}, &rbacv1.Role{}
	for file, into := range map[string]client.Object{"role.yaml": clusterRole, "leader_election_role.yaml": role} {
		text, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", file))
		if err == nil {
			err = yaml.UnmarshalStrict(text, into)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	role.Namespace = metav1.NamespaceDefault
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	return errors.Join(u.Create(ctx, clusterRole), u.Create(ctx, role),
		u.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
			Subjects:   subjects,
		}),
		u.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: role.Namespace, Name: user},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects:   subjects,
		}))
}

func (u *underTest) wake(any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.changed)
	u.changed = make(chan struct{})
}

func (u *underTest) nextChange() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.changed
}

// place is a namespace of one test.
type place struct {
	*underTest
	*testing.T
	namespace string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	if operator == nil {
		t.Skip("needs a control plane: set OPERON to the path of the operon binary")
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := operator.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return &place{underTest: operator, T: t, namespace: namespace.Name}
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *place) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: p.namespace, Name: name}
}

func (p *place) create(name string, size int32) *cachev1alpha1.Memcached {
	p.Helper()
	memcached := &cachev1alpha1.Memcached{ObjectMeta: p.meta(name), Spec: cachev1alpha1.MemcachedSpec{Size: size}}
	p.must(p.Create(p.Context(), memcached))
	return memcached
}

// await waits until nothing is missing any more. What is missing is said in a clause.
func (p *place) await(what string, missing func() string) {
	p.Helper()
	late := time.After(patience)
	for {
		next := p.nextChange() // before looking, so that no change after it is missed
		clause := missing()
		if clause == "" {
			return
		}
		select {
		case <-next:
		case <-late:
			p.Fatalf("%s: not within %s: %s", what, patience, clause)
		}
	}
}

// overwrite updates obj whatever has happened to it since it was read.
func (p *place) overwrite(obj client.Object) error {
	obj.SetResourceVersion("")
	return p.Update(p.Context(), obj)
}

// get reads obj by its name, and says what is missing if it isn't there.
func (p *place) get(obj client.Object) string {
	if err := p.Get(p.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		return err.Error()
	}
	return ""
}

func (p *place) deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: p.meta(name)}
}

func (p *place) service(name string) *corev1.Service {
	return &corev1.Service{ObjectMeta: p.meta(name)}
}

// awaitChildren waits for the Deployment and the Service of that name to be as size asks for.
func (p *place) awaitChildren(name string, size int32) (*appsv1.Deployment, *corev1.Service) {
	p.Helper()
	deployment, service := p.deployment(name), p.service(name)
	p.await("children of "+name, func() string {
		if missing := p.get(deployment); missing != "" {
			return missing
		}
		if *deployment.Spec.Replicas != size {
			return fmt.Sprintf("the Deployment asks for %d replicas, want %d", *deployment.Spec.Replicas, size)
		}
		return p.get(service)
	})
	return deployment, service
}

// podNames are the names of the pods in the namespace that are not being deleted, in the order of the list.
func (p *place) podNames() []string {
	p.Helper()
	var pods corev1.PodList
	p.must(p.List(p.Context(), &pods, client.InNamespace(p.namespace)))
	return nodeNames(pods.Items)
}

// awaitNodes waits until status.nodes names size pods, all that there are.
func (p *place) awaitNodes(memcached *cachev1alpha1.Memcached, size int) {
	p.Helper()
	p.await(fmt.Sprintf("%d nodes of %s", size, memcached.Name), func() string {
		if missing := p.get(memcached); missing != "" {
			return missing
		}
		named, pods := strings.Join(memcached.Status.Nodes, " "), strings.Join(p.podNames(), " ")
		if named != pods || len(memcached.Status.Nodes) != size {
			return fmt.Sprintf("status.nodes is [%s]; the pods are [%s]", named, pods)
		}
		return ""
	})
}
