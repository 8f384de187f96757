//go:build unix

package envtest

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// needsOperon skips a test that starts real control planes where there is no command to do it.
func needsOperon(t testing.TB) {
	t.Helper()
	if os.Getenv(envBinary) == "" {
		t.Skip("OPERON, the path of the operon command, is not set: make build, then export OPERON=<checkout>/bin/operon")
	}
	t.Setenv("KUBEBUILDER_ASSETS", "")
}

// begin starts the environment and stops it at the end of the test.
func begin(t testing.TB, env *Environment) (*rest.Config, kubernetes.Interface) {
	t.Helper()
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cfg, clientFor(t, cfg)
}

func clientFor(t testing.TB, cfg *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "b"}}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
}

func TestPodsNeedNobodyWhereThereAreNoControllers(t *testing.T) {
	needsOperon(t)
	_, client := begin(t, &Environment{})
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods("n").Create(t.Context(), pod("p"), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

func TestUsersAreWhoTheySay(t *testing.T) {
	needsOperon(t)
	for name, env := range map[string]*Environment{
		"together": {},
		//lint:ignore SA1019 what is deprecated works all the same
		"apart": {ControlPlane: ControlPlane{Etcd: &Etcd{Args: []string{"--max-txn-ops={{ if .DataDir }}200{{ end }}"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			early, err := env.AddUser(User{Name: "early", Groups: []string{"readers"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, admin := begin(t, env)
			late, err := env.AddUser(User{Name: "late", Groups: []string{"readers"}}, &rest.Config{QPS: 123, Burst: 200})
			if err != nil {
				t.Fatal(err)
			}
			if late.Config().QPS != 123 {
				t.Error("what the given configuration says is lost")
			}
			if _, err := clientFor(t, late.Config()).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
				t.Errorf("a user without rights gets %v", err)
			}
			if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
				ObjectMeta: metav1.ObjectMeta{Name: "reader"},
				Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
			}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "readers"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reader"},
				Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"}},
			}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, u := range []*AuthenticatedUser{early, late} {
				awaitNil(t, func() error {
					_, err := clientFor(t, u.Config()).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
					return err
				})
			}
			if err := env.Reset(t.Context()); (err == nil) != (name == "together") {
				t.Errorf("reset: %v", err)
			}
			kubectl, err := late.Kubectl()
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := kubectl.Run("auth", "whoami")
			if err != nil {
				t.Fatal(err)
			}
			if said, err := io.ReadAll(out); err != nil || !strings.Contains(string(said), "late") {
				t.Errorf("kubectl is %s, %v", said, err)
			}
			if err := env.Stop(); err != nil {
				t.Error(err)
			}
			if left := leftovers(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// awaitNil waits for something that has no watch.
func awaitNil(t testing.TB, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestResetGoesBackToTheStart(t *testing.T) {
	needsOperon(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crds.yaml"), []byte(twoCRDs), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]*Environment{
		"an API alone":     {CRDDirectoryPaths: []string{dir}},
		"with controllers": {CRDDirectoryPaths: []string{dir}, Nodes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			cfg, client := begin(t, env)
			frogs := client.Discovery().RESTClient()
			before, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Finalizers: []string{"example.com/kept"}}}, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				held := configMap("held")
				held.Finalizers = []string{"example.com/never"}
				if _, err := client.CoreV1().ConfigMaps("n").Create(ctx, held, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := frogs.Post().AbsPath("/apis/example.com/v1/namespaces/n/frogs").Body([]byte(`{"apiVersion":"example.com/v1","kind":"Frog","metadata":{"name":"f"}}`)).
					SetHeader("Content-Type", "application/json").Do(ctx).Error(); err != nil {
					t.Fatal(err)
				}
				if _, err := client.AppsV1().Deployments("default").Create(ctx, deployment("d"), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := client.CoreV1().Namespaces().Delete(ctx, "n", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				changed := before.DeepCopy()
				changed.ResourceVersion, changed.Labels["changed"] = "", "true"
				if _, err := client.CoreV1().Namespaces().Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := client.RbacV1().ClusterRoles().Delete(ctx, "edit", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := UninstallCRDs(cfg, CRDInstallOptions{Paths: []string{dir}}); err != nil {
					t.Fatal(err)
				}

				began := time.Now()
				if err := env.Reset(ctx); err != nil {
					t.Fatal(err)
				}
				t.Logf("reset in %s", time.Since(began))

				if _, err := client.CoreV1().Namespaces().Get(ctx, "n", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					t.Errorf("namespace n: %v", err)
				}
				after, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
				if err != nil || after.UID != before.UID || after.Labels["changed"] != "" {
					t.Errorf("namespace default: %v, %v", after, err)
				}
				if _, err := client.RbacV1().ClusterRoles().Get(ctx, "edit", metav1.GetOptions{}); err != nil {
					t.Error(err)
				}
				if list, err := client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
					t.Errorf("deployments: %v, %v", list, err)
				}
				if err := frogs.Get().AbsPath("/apis/example.com/v1/namespaces/n/frogs/f").Do(ctx).Error(); !apierrors.IsNotFound(err) {
					t.Errorf("frog: %v", err)
				}
				if err := frogs.Get().AbsPath("/apis/example.com/v1/frogs").Do(ctx).Error(); err != nil {
					t.Errorf("frogs: %v", err)
				}
			}
		})
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("p").Spec},
		},
	}
}

func TestWhatIsNotStartedCannotBeReset(t *testing.T) {
	env := &Environment{}
	if err := env.Reset(t.Context()); err == nil {
		t.Error("an environment that is not started was reset")
	}
}

func TestControllersWorkWhenAskedFor(t *testing.T) {
	needsOperon(t)
	ctx := t.Context()
	_, client := begin(t, &Environment{Nodes: 1})
	d, err := client.AppsV1().Deployments("default").Create(ctx, deployment("d"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	awaitNil(t, func() error {
		d, err = client.AppsV1().Deployments("default").Get(ctx, "d", metav1.GetOptions{})
		if err == nil && d.Status.ReadyReplicas != 1 {
			err = errors.New("the deployment has no ready pod")
		}
		return err
	})
	policy := metav1.DeletePropagationBackground
	if err := client.AppsV1().Deployments("default").Delete(ctx, "d", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	awaitNil(t, func() error {
		list, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) > 0 {
			err = errors.New("the deployment's pod is still there")
		}
		return err
	})
}

func TestSharedPlanesAreLentCleanAndToOneAtATime(t *testing.T) {
	needsOperon(t)
	t.Setenv("TMPDIR", t.TempDir())
	first, second := &Environment{Shared: true}, &Environment{Shared: true}
	cfg, client := begin(t, first)
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("mine"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	other, _ := begin(t, second)
	if other.Host == cfg.Host {
		t.Fatal("two environments have the same control plane at the same time")
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	again, client := begin(t, first)
	t.Logf("borrowed in %s", time.Since(began))
	if again.Host != cfg.Host {
		t.Error("a control plane that nobody uses was not used")
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "mine", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("what the first borrower made: %v", err)
	}
	for _, env := range []*Environment{first, second} {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}
	endShared(t)
}

// endShared ends the shared control planes of this test, which would wait for another borrower.
func endShared(t *testing.T) {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(os.TempDir(), "operon-cluster-*", "lock"))
	if err != nil || len(locks) == 0 {
		t.Fatalf("no control planes to end: %v", err)
	}
	for _, lock := range locks {
		pid, err := os.ReadFile(lock)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("kill", strings.TrimSpace(string(pid))).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	}
	awaitNil(t, func() error {
		left, err := filepath.Glob(filepath.Join(os.TempDir(), "operon-cluster-*"))
		if err == nil && len(left) > 0 {
			err = errors.New("still there: " + strings.Join(left, " "))
		}
		return err
	})
}

// A test that is killed gets no chance to call Stop.
func TestNothingIsLeftBehindByAKilledTest(t *testing.T) {
	needsOperon(t)
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	test := exec.Command(binary)
	test.Env = append(os.Environ(), envFake+"=starts-a-real-environment", "TMPDIR="+dir)
	test.Stderr = os.Stderr
	stdout, err := test.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := test.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "started\n" {
		t.Fatalf("the test to kill says %q, %v", line, err)
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) == 0 {
		t.Fatalf("there is nothing that could be left behind: %v", err)
	}
	if err := test.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = test.Wait()
	began := time.Now()
	awaitNil(t, func() error {
		left, err := os.ReadDir(dir)
		if err == nil && len(left) > 0 {
			err = errors.New("left behind: " + left[0].Name())
		}
		return err
	})
	t.Logf("gone %s after the kill", time.Since(began))
}

func TestManyEnvironmentsSideBySide(t *testing.T) {
	needsOperon(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			env := &Environment{}
			cfg, err := env.Start()
			if err != nil {
				t.Error(err)
				return
			}
			client, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("same"), metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
			if err := env.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
