package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// TestAPI holds the tests of what the API promises; they share one cluster and run side by side.
func TestAPI(t *testing.T) {
	p := start(t)
	// What is asserted here must hold at the moment of the ready line, so it comes before anything else.
	t.Run("what a user needs is there when the cluster says it is ready", func(t *testing.T) { usableAtOnce(t, p) })
	t.Run("side by side", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *process){
			"custom resources are served as soon as they are established":  customResources,
			"owned objects go with a custom resource defined a moment ago": customOwner,
			"owned objects go with their owner":                            ownedObjects,
			"a finalizer holds a deletion":                                 finalizer,
			"a namespace takes its objects along":                          namespaceDeletion,
			"a service account may do what it is allowed to":               serviceAccountRights,
			"kubectl explains, lists and applies":                          kubectlWalk,
			"services get addresses":                                       serviceAddresses,
			"a claim binds and its volume goes with it":                    claimBinds,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, p)
			})
		}
	})
	// Comes last: while an aggregated API is not available, discovery is incomplete for all.
	t.Run("an aggregated API is reached by a service that leads out of the cluster", func(t *testing.T) { aggregatedAPI(t, p) })
}

func usableAtOnce(t *testing.T, p *process) {
	ctx, client := t.Context(), p.client(t)
	if _, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
		t.Errorf("/readyz: %v", err)
	}
	// The admission of a pod needs its namespace's service account.
	if _, err := client.CoreV1().Pods("default").Create(ctx, pod("first"), metav1.CreateOptions{}); err != nil {
		t.Errorf("first pod: %v", err)
	}
	if version, err := client.Discovery().ServerVersion(); err != nil || version.GitVersion != "v1.37.1" {
		t.Errorf("version %v, %v", version, err)
	}
	for _, role := range append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...) {
		got, err := client.RbacV1().ClusterRoles().Get(ctx, role.Name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("ClusterRole %s: %v", role.Name, err)
		} else if len(got.Rules) == 0 && (len(role.Rules) > 0 || role.AggregationRule != nil) {
			t.Errorf("ClusterRole %s has no rules", role.Name)
		}
	}
	if out, err := p.kubectl(t, "", "auth", "can-i", "delete", "pods", "--as=jane", "--as-group=system:authenticated"); err == nil {
		t.Errorf("a stranger may delete pods: %s", out)
	}
}

func customResources(t *testing.T, p *process) {
	gvr := define(t, p, "widgets", "Widget")
	client := dynamicClient(t, p)
	if _, err := client.Resource(gvr).Namespace("default").Create(t.Context(), custom(gvr, "Widget", "w"), metav1.CreateOptions{}); err != nil {
		t.Errorf("first object: %v", err)
	}
	if out, err := p.kubectl(t, "", "get", "widgets.tests.operon.dev", "w"); err != nil {
		t.Errorf("kubectl get: %v %s", err, out)
	}
}

func customOwner(t *testing.T, p *process) {
	gvr := define(t, p, "gadgets", "Gadget")
	owner, err := dynamicClient(t, p).Resource(gvr).Namespace("default").Create(t.Context(), custom(gvr, "Gadget", "g"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client := p.client(t)
	owned(t, client, "owned-by-gadget", metav1.OwnerReference{APIVersion: gvr.GroupVersion().String(), Kind: "Gadget", Name: "g", UID: owner.GetUID()})
	if err := dynamicClient(t, p).Resource(gvr).Namespace("default").Delete(t.Context(), "g", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// kube-controller-manager may take thirty seconds to look at a new resource.
	eventually(t, 15*time.Second, "collection of what the custom resource owned", gone(client, "default", "owned-by-gadget"))
}

func ownedObjects(t *testing.T, p *process) {
	client := p.client(t)
	owner, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("owner"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	child := owned(t, client, "child", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID})
	owned(t, client, "grandchild", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "child", UID: child.UID})
	if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 15*time.Second, "collection of the grandchild", gone(client, "default", "grandchild"))
}

func finalizer(t *testing.T, p *process) {
	client := p.client(t).CoreV1().ConfigMaps("default")
	held := configMap("held")
	held.Finalizers = []string{"tests.operon.dev/hold"}
	if _, err := client.Create(t.Context(), held, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := client.Get(t.Context(), "held", metav1.GetOptions{})
	if err != nil || got.DeletionTimestamp == nil {
		t.Fatalf("after the deletion: %v, deletion timestamp %v", err, got.DeletionTimestamp)
	}
	if _, err := client.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), "held", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the last finalizer: %v", err)
	}
}

func namespaceDeletion(t *testing.T, p *process) {
	client := p.client(t)
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "doomed"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "root CA of a new namespace", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ConfigMaps("doomed").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, err
	})
	if _, err := client.CoreV1().ConfigMaps("doomed").Create(t.Context(), configMap("content"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().Namespaces().Delete(t.Context(), "doomed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "end of the namespace", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, "doomed", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}

func serviceAccountRights(t *testing.T, p *process) {
	ctx, admin := t.Context(), p.client(t)
	if _, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "rights"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CoreV1().ServiceAccounts("rights").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := admin.CoreV1().ServiceAccounts("rights").CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(p.config(t))
	config.BearerToken = token.Status.Token
	robot, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := robot.CoreV1().ConfigMaps("rights").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("list without rights: %v", err)
	}
	if _, err := admin.RbacV1().RoleBindings("rights").Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "robot"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "rights", Name: "robot"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "list with rights", func(ctx context.Context) (bool, error) {
		_, err := robot.CoreV1().ConfigMaps("rights").List(ctx, metav1.ListOptions{})
		return err == nil, err
	})
	if _, err := robot.CoreV1().Secrets("rights").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a viewer lists secrets: %v", err)
	}
	anonymous, err := kubernetes.NewForConfig(rest.AnonymousClientConfig(p.config(t)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := anonymous.CoreV1().Namespaces().List(ctx, metav1.ListOptions{}); err == nil {
		t.Error("anonymous lists namespaces")
	}
}

func kubectlWalk(t *testing.T, p *process) {
	for _, tt := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{"explain", "deployment.spec.replicas"}, "FIELD: replicas <integer>"},
		{"", []string{"api-resources"}, "customresourcedefinitions"},
		{"", []string{"get", "--raw", "/openapi/v3"}, `"apis/apps/v1"`},
		{"", []string{"get", "--raw", "/openapi/v2"}, `"io.k8s.api.core.v1.Pod"`},
		{"", []string{"get", "--raw", "/openapi/v3/apis/batch/v1"}, "io.k8s.api.batch.v1.Job"},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: b}\n", []string{"apply", "-f", "-"}, "configmap/applied created"},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: c}\n", []string{"apply", "--server-side", "--force-conflicts", "-f", "-"}, "serverside-applied"},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong}\ndate: {}\n", []string{"create", "-f", "-"}, `unknown field "date"`},
		{"", []string{"create", "token", "default"}, "ey"},
		{"", []string{"get", "priorityclasses"}, "system-node-critical"},
	} {
		out, err := p.kubectl(t, tt.stdin, tt.args...)
		if !strings.Contains(out, tt.want) {
			t.Errorf("kubectl %s: %v, output does not contain %q:\n%.500s", strings.Join(tt.args, " "), err, tt.want, out)
		}
	}
}

func serviceAddresses(t *testing.T, p *process) {
	out, err := p.kubectl(t, "", "create", "service", "clusterip", "addressed", "--tcp=80")
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	service, err := p.client(t).CoreV1().Services("default").Get(t.Context(), "addressed", metav1.GetOptions{})
	if err != nil || !strings.HasPrefix(service.Spec.ClusterIP, "10.96.") {
		t.Errorf("service: %v, address %q", err, service.Spec.ClusterIP)
	}
	eventually(t, 10*time.Second, "service kubernetes", func(ctx context.Context) (bool, error) {
		service, err := p.client(t).CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
		return err == nil && service.Spec.ClusterIP == "10.96.0.1", err
	})
}

func claimBinds(t *testing.T, p *process) {
	client := p.client(t)
	claims := client.CoreV1().PersistentVolumeClaims("default")
	if _, err := claims.Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 15*time.Second, "binding of the claim", func(ctx context.Context) (bool, error) {
		claim, err := claims.Get(ctx, "data", metav1.GetOptions{})
		return err == nil && claim.Status.Phase == corev1.ClaimBound, err
	})
	if err := claims.Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 15*time.Second, "end of the volume", func(ctx context.Context) (bool, error) {
		volumes, err := client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		return err == nil && len(volumes.Items) == 0, err
	})
}

func aggregatedAPI(t *testing.T, p *process) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"elsewhere.operon.dev/v1","resources":[]}`)
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.kubectl(t, fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: elsewhere, namespace: default}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.elsewhere.operon.dev}
spec:
  group: elsewhere.operon.dev
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: elsewhere, namespace: default, port: %s}
`, port), "apply", "-f", "-"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if out, err := p.kubectl(t, "", "wait", "--for=condition=Available", "--timeout=1m", "apiservice/v1.elsewhere.operon.dev"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	eventually(t, time.Minute, "the aggregated API's answer", func(ctx context.Context) (bool, error) {
		answer, err := p.client(t).Discovery().RESTClient().Get().AbsPath("/apis/elsewhere.operon.dev/v1").DoRaw(ctx)
		return strings.Contains(string(answer), "APIResourceList"), err
	})
}

// define creates a custom resource and returns as soon as its definition says that it is established.
func define(t *testing.T, p *process, plural, kind string) schema.GroupVersionResource {
	t.Helper()
	client, err := apiextensions.NewForConfig(p.config(t))
	if err != nil {
		t.Fatal(err)
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	preserve := true
	name := plural + ".tests.operon.dev"
	created, err := crds.Create(t.Context(), &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "tests.operon.dev",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := crds.Watch(t.Context(), metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String(), ResourceVersion: created.ResourceVersion,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		crd, ok := event.Object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			t.Fatalf("watch of %s: %v", name, event.Object)
		}
		for _, c := range crd.Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return schema.GroupVersionResource{Group: "tests.operon.dev", Version: "v1", Resource: plural}
			}
		}
	}
	t.Fatalf("watch of %s ended", name)
	panic("unreachable")
}

func dynamicClient(t *testing.T, p *process) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(p.config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func custom(gvr schema.GroupVersionResource, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvr.GroupVersion().WithKind(kind))
	u.SetName(name)
	return u
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func owned(t *testing.T, client kubernetes.Interface, name string, owner metav1.OwnerReference) *corev1.ConfigMap {
	t.Helper()
	cm := configMap(name)
	cm.OwnerReferences = []metav1.OwnerReference{owner}
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func gone(client kubernetes.Interface, namespace, name string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}
}
