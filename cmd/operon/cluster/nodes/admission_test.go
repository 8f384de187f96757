package nodes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestANodeRefusesWhatDoesNotFit(t *testing.T) {
	node := &corev1.Node{}
	node.Labels = map[string]string{"disk": "ssd"}
	node.Spec.Taints = []corev1.Taint{{Key: "away", Effect: corev1.TaintEffectNoExecute}, {Key: "full", Effect: corev1.TaintEffectNoSchedule}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourcePods: resource.MustParse("3")}
	pod := func(change func(*corev1.PodSpec)) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{
			Containers:  []corev1.Container{{Name: "c"}},
			Tolerations: []corev1.Toleration{{Key: "away", Operator: corev1.TolerationOpExists}},
		}}
		if change != nil {
			change(&p.Spec)
		}
		return p
	}
	cpu := func(amount string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount), "example.com/device": resource.MustParse("1")}
		}
	}
	port := func(ip string, protocol corev1.Protocol) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, HostIP: ip, Protocol: protocol}, {ContainerPort: 81}}
		}
	}
	for name, c := range map[string]struct {
		pod    func(*corev1.PodSpec)
		others []*corev1.Pod
		reason string
	}{
		"a pod that asks for nothing":   {},
		"one pod too many":              {others: []*corev1.Pod{pod(nil), pod(nil), pod(nil)}, reason: "OutOfpods"},
		"the last processor":            {pod: cpu("1500m"), others: []*corev1.Pod{pod(cpu("500m"))}},
		"more processors than are left": {pod: cpu("1501m"), others: []*corev1.Pod{pod(cpu("500m"))}, reason: "OutOfcpu"},
		"a label that the node has":     {pod: func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} }},
		"a label that it has not":       {pod: func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "hdd"} }, reason: "NodeAffinity"},
		"a free port":                   {pod: port("", "TCP"), others: []*corev1.Pod{pod(port("", "UDP"))}},
		"a port of another address":     {pod: port("127.0.0.1", "TCP"), others: []*corev1.Pod{pod(port("127.0.0.2", "TCP"))}},
		"a port of all addresses":       {pod: port("127.0.0.1", "TCP"), others: []*corev1.Pod{pod(port("0.0.0.0", "TCP"))}, reason: "NodePorts"},
		"a taint that evicts":           {pod: func(s *corev1.PodSpec) { s.Tolerations = nil }, reason: "TaintToleration"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if refusal := refuse(pod(c.pod), node, c.others); refusal != nil {
				got = refusal.Reason
			}
			if got != c.reason {
				t.Errorf("refused for %q, want %q", got, c.reason)
			}
		})
	}
}
