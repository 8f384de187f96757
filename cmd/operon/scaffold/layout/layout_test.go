package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

func TestNamesAreThoseOfKubebuilder(t *testing.T) {
	single := &project.Project{Repo: "example.com/p", Domain: "example.com"}
	multi := &project.Project{Repo: "example.com/p", Domain: "example.com", MultiGroup: true}
	cache := &project.Resource{Group: "cache", Domain: "example.com", Version: "v1alpha1", Kind: "Memcached"}
	policy := &project.Resource{Group: "fast-cache.io", Domain: "example.com", Version: "v1", Kind: "NetworkPolicy", Plural: "netpols"}
	pod := &project.Resource{Group: "core", Core: true, Version: "v1", Kind: "Pod", Path: "k8s.io/api/core/v1"}

	type names struct {
		Types, Alias, Controller, Package, Reconciler, Webhook, WebhookAlias, Mutate, CRD, Sample, Roles string
	}
	of := func(p *project.Project, r *project.Resource, controller string) names {
		n := Of(p, r)
		return names{
			n.Types(), n.APIAlias(), n.ControllerFile(controller), n.ControllerPackage(), n.Reconciler(controller), n.WebhookFile(), n.WebhookAlias(),
			n.AdmissionPath("mutate"), n.CRDFile(), n.SampleFile(), n.RolesFile(),
		}
	}
	for _, tt := range []struct {
		name string
		got  names
		want names
	}{
		{"one group", of(single, cache, ""), names{
			"api/v1alpha1/memcached_types.go", "cachev1alpha1", "internal/controller/memcached_controller.go", "controller", "MemcachedReconciler",
			"internal/webhook/v1alpha1/memcached_webhook.go", "webhookv1alpha1", "/mutate-cache-example-com-v1alpha1-memcached",
			"config/crd/bases/cache.example.com_memcacheds.yaml", "config/samples/cache_v1alpha1_memcached.yaml", "config/rbac/memcached_roles.yaml",
		}},
		{"several groups, a named controller", of(multi, policy, "net-guard"), names{
			"api/fast-cache.io/v1/networkpolicy_types.go", "fastcacheiov1", "internal/controller/fast-cache.io/net_guard_controller.go", "fastcacheio", "NetGuardReconciler",
			"internal/webhook/fast-cache.io/v1/networkpolicy_webhook.go", "webhookfastcacheiov1", "/mutate-fast-cache-io-example-com-v1-networkpolicy",
			"config/crd/bases/fast-cache.io.example.com_netpols.yaml", "config/samples/fast-cache.io_v1_networkpolicy.yaml", "config/rbac/fastcacheio_networkpolicy_roles.yaml",
		}},
		{"a kind of Kubernetes", of(single, pod, ""), names{
			"api/v1/pod_types.go", "corev1", "internal/controller/pod_controller.go", "controller", "PodReconciler",
			"internal/webhook/v1/pod_webhook.go", "webhookv1", "/mutate--v1-pod",
			"config/crd/bases/_pods.yaml", "config/samples/core_v1_pod.yaml", "config/rbac/pod_roles.yaml",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestKubernetesOwnKinds(t *testing.T) {
	for _, tt := range []struct {
		group, version, kind, domain string
		want                         bool
	}{
		{"apps", "v1", "Deployment", "", true},
		{"core", "v1", "Pod", "", true},
		{"networking", "v1", "Ingress", "k8s.io", true},
		{"rbac", "v1", "Role", "authorization.k8s.io", true},
		{"apps", "v1alpha1", "Application", "", false},
		{"cache", "v1", "Pod", "", false},
	} {
		domain, ok := CoreDomain(tt.group, tt.version, tt.kind)
		if ok != tt.want || ok && domain != tt.domain {
			t.Errorf("CoreDomain(%s, %s, %s) = %q, %v", tt.group, tt.version, tt.kind, domain, ok)
		}
	}
}
