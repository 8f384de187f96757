package nodes

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func ready(st corev1.NodeStatus) *corev1.NodeCondition {
	for i := range st.Conditions {
		if st.Conditions[i].Type == corev1.NodeReady {
			return &st.Conditions[i]
		}
	}
	return nil
}

func TestNewNodeIsReadyAndAnnouncesNoKubelet(t *testing.T) {
	node := newMachine(0).object(time.Now())
	if c := ready(node.Status); c == nil || c.Status != corev1.ConditionTrue || c.LastHeartbeatTime.IsZero() {
		t.Errorf("Ready condition %v", c)
	}
	if port := node.Status.DaemonEndpoints.KubeletEndpoint.Port; port != 0 {
		t.Errorf("kubelet port %d", port)
	}
	if node.Status.Allocatable.Pods().Value() < 110 {
		t.Errorf("allocatable %v", node.Status.Allocatable)
	}
}

func TestGivenUpNodeIsHealed(t *testing.T) {
	m := newMachine(0)
	node := m.object(time.Unix(1000, 0))
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: "Other", Status: corev1.ConditionUnknown})
	if m.conditions(&node.Status, time.Unix(2000, 0), nil) {
		t.Error("changed without need")
	}
	if at := ready(node.Status).LastHeartbeatTime.Unix(); at != 1000 {
		t.Errorf("heartbeat at %d though nothing changed", at)
	}
	ready(node.Status).Status = corev1.ConditionUnknown
	if !m.conditions(&node.Status, time.Unix(3000, 0), nil) {
		t.Error("not healed")
	}
	if c := ready(node.Status); c.Status != corev1.ConditionTrue || c.LastTransitionTime.Unix() != 3000 || c.LastHeartbeatTime.Unix() != 3000 {
		t.Errorf("%v", c)
	}
	if c := node.Status.Conditions[len(node.Status.Conditions)-1]; c.Status != corev1.ConditionUnknown {
		t.Errorf("another's condition became %v", c)
	}
}

func TestTakeOverKeepsWhatOthersSet(t *testing.T) {
	m := newMachine(0)
	node := m.object(time.Unix(1000, 0))
	node.Labels["mine"] = "kept"
	node.Status.Capacity[corev1.ResourceCPU] = resource.MustParse("2")
	node.Status.Capacity["example.com/gpu"] = resource.MustParse("8")
	node.Spec.Taints = []corev1.Taint{
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
		{Key: "mine", Effect: corev1.TaintEffectNoSchedule},
	}
	again := newMachine(0)
	again.label(node)
	again.describe(&node.Status, time.Unix(2000, 0))
	untaint(node)
	if node.Labels["mine"] != "kept" || node.Status.Capacity.Cpu().Value() != 2 || len(node.Status.Capacity) != 5 {
		t.Errorf("labels %v, capacity %v", node.Labels, node.Status.Capacity)
	}
	if len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Key != "mine" {
		t.Errorf("taints %v", node.Spec.Taints)
	}
	if node.Status.NodeInfo.BootID != again.bootID {
		t.Errorf("boot ID %s of %s", node.Status.NodeInfo.BootID, again.bootID)
	}
}
