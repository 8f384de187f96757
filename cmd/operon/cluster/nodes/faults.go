package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Annotations on a Node that let it fail. They last until they are taken away or until the next Run, which begins with sound nodes.
const (
	// Unreachable, if "true", is a node that nobody hears of: it sends no heartbeats, and its pods stay as they are, also those that are deleted.
	Unreachable = prefix + "unreachable"
	// Condition, with the type of a condition that kubelets set (Ready, MemoryPressure, DiskPressure, PIDPressure) appended, is the
	// status of this condition, "True", "False" or "Unknown".
	Condition = prefix + "condition."

	prefix = "sim.operon.dev/"
)

// soundness is what kubelets say in their conditions, in the order in which they say it: when all is well, and when not.
var soundness = []struct {
	kind          corev1.NodeConditionType
	sound         corev1.ConditionStatus
	well, notWell string
	wellAtLength  string
}{
	{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "KubeletHasInsufficientMemory", "kubelet has sufficient memory available"},
	{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "KubeletHasDiskPressure", "kubelet has no disk pressure"},
	{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "KubeletHasInsufficientPID", "kubelet has sufficient PID available"},
	{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "KubeletNotReady", "the simulated kubelet is posting ready status"},
}

// faults is how a node is to fail.
type faults struct {
	unreachable bool
	conditions  map[corev1.NodeConditionType]corev1.ConditionStatus
	// problems are annotations that could not be understood and were taken as absent.
	problems []string
}

func faultsOf(node *corev1.Node) faults {
	var f faults
	for _, key := range slices.Sorted(maps.Keys(node.Annotations)) {
		value := node.Annotations[key]
		kind, isCondition := strings.CutPrefix(key, Condition)
		problem := ""
		switch status := corev1.ConditionStatus(value); {
		case key == Unreachable:
			if f.unreachable = value == "true"; !f.unreachable && value != "false" {
				problem = `is not "true" or "false"`
			}
		case isCondition && !isSoundness(kind):
			problem = "names no condition that a kubelet sets"
		case isCondition && status != corev1.ConditionTrue && status != corev1.ConditionFalse && status != corev1.ConditionUnknown:
			problem = `is not "True", "False" or "Unknown"`
		case isCondition:
			if f.conditions == nil {
				f.conditions = map[corev1.NodeConditionType]corev1.ConditionStatus{}
			}
			f.conditions[corev1.NodeConditionType(kind)] = status
		case strings.HasPrefix(key, prefix):
			problem = "is not an annotation that simulated nodes know"
		}
		if problem != "" {
			f.problems = append(f.problems, fmt.Sprintf("annotation %s: %q %s", key, value, problem))
		}
	}
	return f
}

func isSoundness(kind string) bool {
	for _, s := range soundness {
		if string(s.kind) == kind {
			return true
		}
	}
	return false
}

// mend takes the annotations that let a node fail away.
func mend(node *corev1.Node) {
	maps.DeleteFunc(node.Annotations, func(key, _ string) bool { return key == Unreachable || strings.HasPrefix(key, Condition) })
}
