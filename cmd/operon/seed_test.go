package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	flowcontrolbootstrap "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	schedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// The first objects of a store are written past the API; Kubernetes' own reconciliation must find nothing to add to them.
func TestFirstObjectsAreThoseThatKubernetesWouldMake(t *testing.T) {
	p := start(t)
	ctx, client := t.Context(), p.client(t)
	for _, role := range append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...) {
		check := reconciliation.ReconcileRoleOptions{
			Role:   reconciliation.ClusterRoleRuleOwner{ClusterRole: &role},
			Client: reconciliation.ClusterRoleModifier{Client: client.RbacV1().ClusterRoles()},
		}
		if result, err := check.Run(); err != nil || result.Operation != reconciliation.ReconcileNone {
			t.Errorf("ClusterRole %s: %v, reconciliation would %v", role.Name, err, result)
		}
	}
	for _, binding := range append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...) {
		check := reconciliation.ReconcileRoleBindingOptions{
			RoleBinding: reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: &binding},
			Client:      reconciliation.ClusterRoleBindingClientAdapter{Client: client.RbacV1().ClusterRoleBindings()},
		}
		if result, err := check.Run(); err != nil || result.Operation != reconciliation.ReconcileNone {
			t.Errorf("ClusterRoleBinding %s: %v, reconciliation would %v", binding.Name, err, result)
		}
	}
	for namespace, roles := range bootstrappolicy.NamespaceRoles() {
		for _, role := range roles {
			role.Namespace = namespace
			check := reconciliation.ReconcileRoleOptions{
				Role:   reconciliation.RoleRuleOwner{Role: &role},
				Client: reconciliation.RoleModifier{Client: client.RbacV1(), NamespaceClient: client.CoreV1().Namespaces()},
			}
			if result, err := check.Run(); err != nil || result.Operation != reconciliation.ReconcileNone {
				t.Errorf("Role %s/%s: %v, reconciliation would %v", namespace, role.Name, err, result)
			}
		}
	}
	for _, class := range schedulingv1.SystemPriorityClasses() {
		if got, err := client.SchedulingV1().PriorityClasses().Get(ctx, class.Name, metav1.GetOptions{}); err != nil || got.Value != class.Value {
			t.Errorf("PriorityClass %s: %v, value %d", class.Name, err, got.Value)
		}
	}
	// What kube-apiserver v1.37.1 makes on a store that nobody seeded.
	for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
		ns, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("Namespace %s: %v", name, err)
			continue
		}
		want := []metav1.ManagedFieldsEntry{{
			Manager: "kube-apiserver", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &ns.CreationTimestamp,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}`),
		}}
		if diff := cmp.Diff(want, ns.ManagedFields); diff != "" {
			t.Errorf("managed fields of Namespace %s (-want +got):\n%s", name, diff)
		}
	}
	// A generation above 1 means that kube-apiserver's own bootstrap corrected what it found.
	for _, schema := range append(flowcontrolbootstrap.MandatoryFlowSchemas, flowcontrolbootstrap.SuggestedFlowSchemas...) {
		if got, err := client.FlowcontrolV1().FlowSchemas().Get(ctx, schema.Name, metav1.GetOptions{}); err != nil || got.Generation != 1 {
			t.Errorf("FlowSchema %s: %v, generation %d", schema.Name, err, got.Generation)
		}
	}
	for _, level := range append(flowcontrolbootstrap.MandatoryPriorityLevelConfigurations, flowcontrolbootstrap.SuggestedPriorityLevelConfigurations...) {
		if got, err := client.FlowcontrolV1().PriorityLevelConfigurations().Get(ctx, level.Name, metav1.GetOptions{}); err != nil || got.Generation != 1 {
			t.Errorf("PriorityLevelConfiguration %s: %v, generation %d", level.Name, err, got.Generation)
		}
	}
}
