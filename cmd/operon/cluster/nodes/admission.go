package nodes

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/cluster/nodes/podlife"
	"github.com/operon-dev/operon/pkg/client"
	corev1 "k8s.io/api/core/v1"
	resourcehelpers "k8s.io/component-helpers/resource"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// admit says why the node of a new pod refuses it, as a kubelet would: with nil, it takes the pod. What the scheduler has placed fits; a pod that was
// created with a node's name may not.
func (p *pods) admit(ctx context.Context, pod *corev1.Pod, r *resident) (*podlife.Refusal, error) {
	if r.admitted || pod.DeletionTimestamp != nil || placed(pod) {
		return nil, nil
	}
	// One at a time, so that of two pods that want the same one gets it.
	p.admission.Lock()
	defer p.admission.Unlock()
	node := &corev1.Node{}
	if err := p.client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node); err != nil {
		return nil, client.IgnoreNotFound(err) // a kubelet whose Node object was deleted goes on
	}
	var all corev1.PodList
	if err := p.client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	var others []*corev1.Pod
	for i := range all.Items {
		if o := &all.Items[i]; o.Spec.NodeName == node.Name && o.UID != pod.UID && !over(o) && (placed(o) || p.isAdmitted(o)) {
			others = append(others, o)
		}
	}
	refusal := refuse(pod, node, others)
	if refusal == nil {
		p.mu.Lock()
		r.admitted = true
		p.mu.Unlock()
	}
	return refusal, nil
}

// placed says whether the pod was placed by a scheduler or accepted by its node before.
func placed(pod *corev1.Pod) bool {
	return pod.Status.StartTime != nil || slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue
	})
}

func (p *pods) isAdmitted(pod *corev1.Pod) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.residents[pod.UID]
	return r != nil && r.admitted
}

// refuse compares what the pod needs with what the node has and the others on it have taken, in the order of a kubelet.
func refuse(pod *corev1.Pod, node *corev1.Node, others []*corev1.Pod) *podlife.Refusal {
	if refusal := refuseResources(pod, node, others); refusal != nil {
		return refusal
	}
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !ok {
		return &podlife.Refusal{Reason: "NodeAffinity", Message: "node(s) didn't match Pod's node affinity/selector"}
	}
	for _, port := range hostPorts(pod) {
		for _, other := range others {
			if slices.ContainsFunc(hostPorts(other), func(taken corev1.ContainerPort) bool { return conflict(port, taken) }) {
				return &podlife.Refusal{Reason: "NodePorts", Message: "node(s) didn't have free ports for the requested pod ports"}
			}
		}
	}
	if _, found := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute
	}, false); found {
		return &podlife.Refusal{Reason: "TaintToleration", Message: "node(s) had taints that the pod didn't tolerate"}
	}
	return nil
}

func refuseResources(pod *corev1.Pod, node *corev1.Node, others []*corev1.Pod) *podlife.Refusal {
	wanted := resourcehelpers.PodRequests(pod, resourcehelpers.PodResourcesOptions{})
	if have := node.Status.Allocatable.Pods().Value(); int64(len(others)) >= have {
		return outOf(corev1.ResourcePods, 1, int64(len(others)), have)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		amount := wanted[name]
		have, known := node.Status.Allocatable[name]
		if amount.IsZero() || !known {
			// A kubelet does not ask after resources that it does not have: their device plugins do.
			continue
		}
		used := have.DeepCopy()
		used.Sub(have)
		for _, other := range others {
			used.Add(resourcehelpers.PodRequests(other, resourcehelpers.PodResourcesOptions{})[name])
		}
		left := have.DeepCopy()
		left.Sub(used)
		if left.Cmp(amount) >= 0 {
			continue
		}
		if name == corev1.ResourceCPU {
			return outOf(name, amount.MilliValue(), used.MilliValue(), have.MilliValue())
		}
		return outOf(name, amount.Value(), used.Value(), have.Value())
	}
	return nil
}

func outOf(name corev1.ResourceName, requested, used, capacity int64) *podlife.Refusal {
	return &podlife.Refusal{
		Reason:  "OutOf" + string(name),
		Message: fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", name, requested, used, capacity),
	}
}

// hostPorts are the ports of the node that the pod takes while it runs, also those of its sidecars.
func hostPorts(pod *corev1.Pod) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	add := func(c *corev1.Container) {
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				ports = append(ports, port)
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return ports
}

func conflict(a, b corev1.ContainerPort) bool {
	anywhere := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	return a.HostPort == b.HostPort && a.Protocol == b.Protocol && (a.HostIP == b.HostIP || anywhere(a.HostIP) || anywhere(b.HostIP))
}
