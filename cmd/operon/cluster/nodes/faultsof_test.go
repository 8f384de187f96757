package nodes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestFaultsOf(t *testing.T) {
	node := &corev1.Node{}
	node.Annotations = map[string]string{
		"sim.operon.dev/condition.Ready":       "Unknown",
		"sim.operon.dev/condition.PIDPressure": "yes",
		"sim.operon.dev/condition.Mine":        "True",
		"sim.operon.dev/unreachable":           "true",
		"sim.operon.dev/exit-code":             "1",
		"mine":                                 "kept",
	}
	f := faultsOf(node)
	if d := cmp.Diff(map[corev1.NodeConditionType]corev1.ConditionStatus{corev1.NodeReady: corev1.ConditionUnknown}, f.conditions); d != "" || !f.unreachable {
		t.Errorf("unreachable %t, conditions (-want +got):\n%s", f.unreachable, d)
	}
	want := []string{
		`annotation sim.operon.dev/condition.Mine: "True" names no condition that a kubelet sets`,
		`annotation sim.operon.dev/condition.PIDPressure: "yes" is not "True", "False" or "Unknown"`,
		`annotation sim.operon.dev/exit-code: "1" is not an annotation that simulated nodes know`,
	}
	if d := cmp.Diff(want, f.problems); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
	mend(node)
	left := map[string]string{"mine": "kept", "sim.operon.dev/exit-code": "1"}
	if d := cmp.Diff(left, node.Annotations); d != "" {
		t.Errorf("annotations left (-want +got):\n%s", d)
	}
}
