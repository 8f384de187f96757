package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/operon-dev/operon/pkg/client"
)

// project writes a project of the given name into a directory and makes it the working directory.
func projectDir(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{"PROJECT": "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: " + name + "\nrepo: example.com/" + name + "\nversion: \"3\"\n"})
	write(t, dir, files)
	t.Chdir(dir)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// operon runs one of the verbs as a user would, and returns what it prints to standard output.
func operon(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	for _, cmd := range NewCommands() {
		if cmd.Name() != args[0] {
			continue
		}
		var out, progress strings.Builder
		cmd.SetArgs(args[1:])
		cmd.SetOut(&out)
		cmd.SetErr(&progress)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	t.Fatalf("no verb %s", args[0])
	return "", nil
}

func mustOperon(t *testing.T, args ...string) string {
	t.Helper()
	out, err := operon(t, args...)
	if err != nil {
		t.Fatalf("operon %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// useCluster writes a kubeconfig of the test's cluster and makes it the one that the verbs use.
func useCluster(t *testing.T, config *rest.Config) client.WithWatch {
	t.Helper()
	kubeconfig := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfig, path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	c, err := Connect(context.Background(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func crd(group, plural, kind string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[3]s, plural: %[2]s, singular: %[4]s, listKind: %[3]sList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, group, plural, kind, strings.ToLower(kind))
}

func kustomization(resources ...string) string {
	return "resources:\n- " + strings.Join(resources, "\n- ") + "\n"
}

// operatorYAML is an operator in the namespace ns whose pods carry the given node selector.
func operatorYAML(ns, selector string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: %[1]s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: %[1]s}
spec:
  replicas: 1
  selector: {matchLabels: {control-plane: manager}}
  template:
    metadata: {labels: {control-plane: manager}}
    spec:
      serviceAccountName: manager
      nodeSelector: {%[2]s}
      containers: [{name: manager, image: controller:latest}]
`, ns, selector)
}

func configMapYAML(ns, name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\n", name, ns)
}

func TestInstallAppliesDefinitionsAndPrunesThoseWithoutObjects(t *testing.T) {
	c := useCluster(t, cluster(t))
	dir := projectDir(t, "pruned", map[string]string{
		"config/crd/kustomization.yaml": kustomization("a.yaml", "b.yaml", "c.yaml"),
		"config/crd/a.yaml":             crd("prune.example.com", "as", "A"),
		"config/crd/b.yaml":             crd("prune.example.com", "bs", "B"),
		"config/crd/c.yaml":             crd("prune.example.com", "cs", "C"),
	})

	if out := mustOperon(t, "install"); !strings.HasSuffix(out, "3 created\n") {
		t.Errorf("first install printed:\n%s", out)
	}
	// An installed kind can be used at once, by clients that ask the API server what belongs to it too.
	fresh, err := Connect(t.Context(), os.Getenv("KUBECONFIG"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"A", "B", "C"} {
		if _, err := fresh.RESTMapper().RESTMapping(schema.GroupKind{Group: "prune.example.com", Kind: kind}, "v1"); err != nil {
			t.Errorf("after the install: %v", err)
		}
	}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "prune.example.com/v1", "kind": "C", "metadata": map[string]any{"name": "one", "namespace": "default"}}}
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test")); err != nil {
		t.Fatal(err)
	}
	if out := mustOperon(t, "install"); !strings.HasSuffix(out, "3 unchanged\n") {
		t.Errorf("second install printed:\n%s", out)
	}

	write(t, dir, map[string]string{"config/crd/kustomization.yaml": kustomization("a.yaml")})
	want := "unchanged   CustomResourceDefinition as.prune.example.com\n" +
		"pruned      CustomResourceDefinition bs.prune.example.com\n" +
		"kept        CustomResourceDefinition cs.prune.example.com (no longer in the tree, and there are still objects of C.prune.example.com; delete it by hand, with all of them)\n" +
		"1 unchanged, 1 pruned, 1 kept\n"
	if diff := cmp.Diff(want, mustOperon(t, "install", "--dry-run")); diff != "" {
		t.Errorf("dry run (-want +got):\n%s", diff)
	}
	if !exists(t, c, "CustomResourceDefinition", "", "bs.prune.example.com") {
		t.Fatal("the dry run deleted something")
	}
	if diff := cmp.Diff(want, mustOperon(t, "install")); diff != "" {
		t.Errorf("third install (-want +got):\n%s", diff)
	}

	// What was kept is still a member: it goes with uninstall, and its object with it.
	if out := mustOperon(t, "uninstall"); !strings.Contains(out, "deleted     CustomResourceDefinition cs.prune.example.com") {
		t.Errorf("uninstall printed:\n%s", out)
	}
	for _, name := range []string{"as", "bs", "cs"} {
		if exists(t, c, "CustomResourceDefinition", "", name+".prune.example.com") {
			t.Errorf("%s is still there", name)
		}
	}
	if out := mustOperon(t, "uninstall"); !strings.HasSuffix(out, "1 absent\n") {
		t.Errorf("second uninstall printed:\n%s", out)
	}
}

func exists(t *testing.T, c client.Client, kind, ns, name string) bool {
	t.Helper()
	gvk := map[string]schema.GroupVersionKind{
		"CustomResourceDefinition": {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		"ConfigMap":                {Version: "v1", Kind: "ConfigMap"},
		"Namespace":                {Version: "v1", Kind: "Namespace"},
	}[kind]
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil && object.GetDeletionTimestamp() == nil
}

func TestDeployWaitsPrunesAndUndeployLeavesNothing(t *testing.T) {
	c := useCluster(t, cluster(t))
	dir := projectDir(t, "whole", map[string]string{
		"config/default/kustomization.yaml": kustomization("crd.yaml", "operator.yaml", "old.yaml"),
		"config/default/crd.yaml":           crd("whole.example.com", "things", "Thing"),
		"config/default/operator.yaml":      operatorYAML("whole-system", ""),
		"config/default/old.yaml":           configMapYAML("whole-system", "old"),
	})
	if out := mustOperon(t, "deploy", "--image", "registry.example.com/manager:v1"); !strings.HasSuffix(out, "5 created\n") {
		t.Errorf("deploy printed:\n%s", out)
	}
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace("whole-system")); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 || pods.Items[0].Spec.Containers[0].Image != "registry.example.com/manager:v1" || pods.Items[0].Status.Phase != corev1.PodRunning {
		t.Errorf("pods when deploy returned: %+v", pods.Items)
	}

	write(t, dir, map[string]string{
		"config/default/kustomization.yaml": kustomization("crd.yaml", "operator.yaml", "new.yaml"),
		"config/default/new.yaml":           configMapYAML("whole-system", "new"),
	})
	var changes []Change
	if err := json.Unmarshal([]byte(mustOperon(t, "deploy", "-o", "json", "--image", "registry.example.com/manager:v1")), &changes); err != nil {
		t.Fatal(err)
	}
	results := map[string]Result{}
	for _, change := range changes {
		results[change.Kind+" "+change.Name] = change.Result
	}
	want := map[string]Result{
		"Namespace whole-system": Unchanged, "CustomResourceDefinition things.whole.example.com": Unchanged, "ServiceAccount manager": Unchanged,
		"Deployment manager": Unchanged, "ConfigMap new": Created, "ConfigMap old": Pruned,
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("second deploy (-want +got):\n%s", diff)
	}

	mustOperon(t, "undeploy")
	if exists(t, c, "Namespace", "", "whole-system") || exists(t, c, "CustomResourceDefinition", "", "things.whole.example.com") {
		t.Error("undeploy left something")
	}
}

func TestAWaitThatFailsSaysWhatThePodsWaitFor(t *testing.T) {
	useCluster(t, cluster(t))
	projectDir(t, "stuck", map[string]string{
		"config/default/kustomization.yaml": kustomization("operator.yaml"),
		"config/default/operator.yaml":      operatorYAML("stuck-system", "no-node: has-this"),
	})
	_, err := operon(t, "deploy", "--timeout", "3s")
	if err == nil || !strings.Contains(err.Error(), "Deployment stuck-system/manager") || !strings.Contains(err.Error(), "not scheduled:") || !strings.Contains(err.Error(), "--timeout 3s") {
		t.Errorf("error %v does not say what was waited for, how long, and why in vain", err)
	}
	if !errors.Is(err, err) || strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %v", err)
	}
}

func TestUninstallNamesTheObjectsThatHoldItUp(t *testing.T) {
	c := useCluster(t, cluster(t))
	projectDir(t, "held", map[string]string{
		"config/crd/kustomization.yaml": kustomization("a.yaml"),
		"config/crd/a.yaml":             crd("held.example.com", "as", "A"),
	})
	mustOperon(t, "install")
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "held.example.com/v1", "kind": "A",
		"metadata": map[string]any{"name": "one", "namespace": "default", "finalizers": []any{"held.example.com/cleanup"}},
	}}
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test")); err != nil {
		t.Fatal(err)
	}
	_, err := operon(t, "uninstall", "--timeout", "2s")
	if err == nil || !strings.Contains(err.Error(), "A default/one (finalizers: held.example.com/cleanup)") {
		t.Errorf("error %v does not name the object and its finalizer", err)
	}

	// Once the finalizer is off, the same command finishes.
	done := make(chan error, 1)
	go func() {
		_, err := operon(t, "uninstall", "--timeout", "30s")
		done <- err
	}()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := c.Patch(t.Context(), object, patch); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(40 * time.Second):
		t.Error("uninstall did not come back")
	}
}

func TestNothingIsAppliedWhenAKindIsUnknown(t *testing.T) {
	c := useCluster(t, cluster(t))
	projectDir(t, "unknown", map[string]string{
		"config/default/kustomization.yaml": kustomization("operator.yaml", "issuer.yaml"),
		"config/default/operator.yaml":      operatorYAML("unknown-system", ""),
		"config/default/issuer.yaml":        "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: selfsigned, namespace: unknown-system}\n",
	})
	_, err := operon(t, "deploy")
	if err == nil || !strings.Contains(err.Error(), "Issuer unknown-system/selfsigned (cert-manager.io/v1)") || !strings.Contains(err.Error(), "--certificates manager") {
		t.Errorf("error %v does not name what is unknown, or how to do without it", err)
	}
	if exists(t, c, "Namespace", "", "unknown-system") {
		t.Error("the namespace was created all the same")
	}
}

func TestAFieldThatTheDefinitionDoesNotHaveIsNamedWithTheWayOut(t *testing.T) {
	useCluster(t, cluster(t))
	projectDir(t, "field", map[string]string{
		"config/default/kustomization.yaml": kustomization("map.yaml"),
		"config/default/map.yaml":           configMapYAML("default", "outdated") + "spec: {foo: bar}\n",
	})
	_, err := operon(t, "deploy")
	if err == nil || !strings.Contains(err.Error(), "ConfigMap default/outdated: ") || !strings.Contains(err.Error(), ".spec: field not declared in schema: take the field out") {
		t.Errorf("error %v does not name object and field, or the way out", err)
	}
}

func TestNothingIsAppliedWhenANamespaceIsMissing(t *testing.T) {
	c := useCluster(t, cluster(t))
	projectDir(t, "homeless", map[string]string{
		"config/default/kustomization.yaml": kustomization("crd.yaml", "object.yaml", "map.yaml"),
		"config/default/crd.yaml":           crd("homeless.example.com", "tramps", "Tramp"),
		"config/default/object.yaml":        "apiVersion: homeless.example.com/v1\nkind: Tramp\nmetadata: {name: t}\n",
		"config/default/map.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n",
	})
	_, err := operon(t, "deploy")
	for _, want := range []string{"ConfigMap m", "Tramp t", "no namespace is given", "with namespace in the kustomization"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if exists(t, c, "CustomResourceDefinition", "", "tramps.homeless.example.com") {
		t.Error("the definition was created all the same")
	}
}

func TestBadInputIsOneSentenceWithAWayOut(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("KUBECONFIG", none)
	t.Setenv("HOME", t.TempDir())
	outside := t.TempDir()
	inside := projectDir(t, "bad", map[string]string{
		"config/crd/kustomization.yaml":     kustomization("a.yaml"),
		"config/crd/a.yaml":                 configMapYAML("default", "no-definition"),
		"config/default/kustomization.yaml": kustomization("missing.yaml"),
		"config/good/kustomization.yaml":    kustomization("a.yaml"),
		"config/good/a.yaml":                configMapYAML("default", "fine"),
	})
	for _, test := range []struct {
		dir  string
		args []string
		want string
	}{
		{outside, []string{"install"}, "PROJECT"},
		{inside, []string{"install"}, "operon deploy takes the whole operator"},
		{inside, []string{"deploy"}, "missing.yaml"},
		{inside, []string{"deploy", "--dir", "config/none"}, "no kustomization.yaml there"},
		{inside, []string{"deploy", "--dir", "config/good"}, "KUBECONFIG names " + none},
		{inside, []string{"deploy", "--dir", "config/good", "--image", "app:v1"}, `no Deployment of the tree has a container "manager" to run app:v1: name its container with --container`},
		{inside, []string{"deploy", "--dir", "config/good", "--image", "bad image"}, "has a space in its name"},
		{inside, []string{"deploy", "--dir", "config/good", "--kubeconfig", "nowhere"}, "nowhere"},
		{inside, []string{"deploy", "-o", "yaml"}, "text or json"},
		{inside, []string{"deploy", "--timeout", "0s"}, "for example 3m"},
		{inside, []string{"deploy", "now"}, `"now" is not one`},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Chdir(test.dir)
			out, err := operon(t, test.args...)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(strings.TrimSpace(err.Error()), "\n") {
				t.Errorf("error %q, want one line with %q", err, test.want)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
		})
	}
}

func TestTimeThatIsOverIsSaidWithTheWayOut(t *testing.T) {
	useCluster(t, cluster(t))
	projectDir(t, "hasty", map[string]string{
		"config/default/kustomization.yaml": kustomization("a.yaml"),
		"config/default/a.yaml":             configMapYAML("default", "hasty"),
	})
	for _, verb := range []string{"deploy", "undeploy"} {
		_, err := operon(t, verb, "--timeout", "1ns")
		if want := "--timeout 1ns is over before everything was done: what was done stays"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", verb, err, want)
		}
	}
}

func TestAConfigMapThatIsNoRecordIsLeftAlone(t *testing.T) {
	c := useCluster(t, cluster(t))
	projectDir(t, "taken", map[string]string{
		"config/default/kustomization.yaml": kustomization("a.yaml"),
		"config/default/a.yaml":             configMapYAML("default", "mine"),
	})
	foreign := &corev1.ConfigMap{}
	foreign.Namespace, foreign.Name = "default", "taken-applyset"
	if err := c.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	if _, err := operon(t, "deploy"); err == nil || !strings.Contains(err.Error(), "is not a record") {
		t.Errorf("error %v, want that the ConfigMap is not a record", err)
	}
	ctx := context.WithoutCancel(t.Context())
	if err := c.Get(ctx, client.ObjectKeyFromObject(foreign), foreign); err != nil || len(foreign.Labels) != 0 {
		t.Errorf("it was changed: %v, %v", err, foreign.Labels)
	}
}
