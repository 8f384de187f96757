package nodes

import (
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

const (
	kubeletVersion = "v1.37.1"
	// simulatedLabel marks the Node objects that this package made.
	simulatedLabel = "sim.operon.dev/node"
	podBits        = 19
)

// MaxCount is how many nodes can be simulated: each has a /19 of the pods' /9.
const MaxCount = 1024

var (
	// podRange is divided among the nodes.
	podRange = netip.MustParsePrefix("10.128.0.0/9")
	// hostRange is set aside for tests of network devices (RFC 2544), so that no address in it is anybody's.
	hostRange = netip.MustParsePrefix("198.18.0.0/15")

	// What the scheduler and the API server demand of a node only if it says that it can do it. Pods with the restart rule
	// RestartAllContainers demand one that is not here.
	declaredFeatures = []string{"InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"}

	// Roomy, so that nobody's pods are pending for want of a simulated resource.
	capacity = corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("256"),
		corev1.ResourceMemory:           resource.MustParse("1Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("10Ti"),
		corev1.ResourcePods:             resource.MustParse("8100"),
	}
)

// machine is one simulated node.
type machine struct {
	name   string
	hostIP string
	podIPs netip.Prefix
	bootID string
	// addresses hands out podIPs.
	addresses *pool
	// silent says that nobody is to hear of the node.
	silent atomic.Bool
}

func newMachine(i int) *machine {
	pods := netip.PrefixFrom(offset(podRange.Addr(), i<<(32-podBits)), podBits)
	return &machine{
		name:      fmt.Sprintf("operon-node-%d", i),
		hostIP:    offset(hostRange.Addr(), i+1).String(),
		podIPs:    pods,
		bootID:    string(uuid.NewUUID()),
		addresses: newPool(pods),
	}
}

func offset(a netip.Addr, n int) netip.Addr {
	b := a.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	v += uint32(n)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// object returns the Node object of a machine that nobody has seen yet.
func (m *machine) object(now time.Time) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.name}}
	node.Spec.PodCIDR = m.podIPs.String()
	node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
	m.label(node)
	m.describe(&node.Status, now)
	return node
}

// label sets the labels that a kubelet sets and leaves the others.
func (m *machine) label(node *corev1.Node) {
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	maps.Copy(node.Labels, map[string]string{
		corev1.LabelHostname:      m.name,
		corev1.LabelOSStable:      "linux",
		corev1.LabelArchStable:    runtime.GOARCH,
		"beta.kubernetes.io/os":   "linux",
		"beta.kubernetes.io/arch": runtime.GOARCH,
		simulatedLabel:            "simulated",
	})
}

// untaint removes the taints that say that a node is not there.
func untaint(node *corev1.Node) {
	var kept []corev1.Taint
	for _, t := range node.Spec.Taints {
		if t.Key != corev1.TaintNodeNotReady && t.Key != corev1.TaintNodeUnreachable {
			kept = append(kept, t)
		}
	}
	node.Spec.Taints = kept
}

// describe brings the status up to date. A capacity that somebody has changed stays as it is.
func (m *machine) describe(st *corev1.NodeStatus, now time.Time) {
	if st.Capacity == nil {
		st.Capacity = corev1.ResourceList{}
	}
	if st.Allocatable == nil {
		st.Allocatable = corev1.ResourceList{}
	}
	for name, q := range capacity {
		if _, ok := st.Capacity[name]; !ok {
			st.Capacity[name] = q
		}
		if _, ok := st.Allocatable[name]; !ok {
			st.Allocatable[name] = st.Capacity[name]
		}
	}
	st.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: m.hostIP},
		{Type: corev1.NodeHostName, Address: m.name},
	}
	st.NodeInfo = corev1.NodeSystemInfo{
		MachineID:               m.name,
		SystemUUID:              m.name,
		BootID:                  m.bootID,
		KernelVersion:           "simulated",
		OSImage:                 "Operon simulated node",
		ContainerRuntimeVersion: "simulated://" + kubeletVersion[1:],
		KubeletVersion:          kubeletVersion,
		OperatingSystem:         "linux",
		Architecture:            runtime.GOARCH,
	}
	st.DeclaredFeatures = slices.Clone(declaredFeatures)
	m.conditions(st, now, nil)
}

// conditions sets the conditions that a kubelet owns, those in wrong to the status there, says whether that changed any of them, and counts
// as a heartbeat if it did.
func (m *machine) conditions(st *corev1.NodeStatus, now time.Time, wrong map[corev1.NodeConditionType]corev1.ConditionStatus) bool {
	changed := false
	for _, s := range soundness {
		want := corev1.NodeCondition{Type: s.kind, Status: s.sound, Reason: s.well, Message: s.wellAtLength}
		if status, ok := wrong[s.kind]; ok && status != s.sound {
			want.Status, want.Reason, want.Message = status, s.notWell, "set by the annotation "+Condition+string(s.kind)
		}
		want.LastTransitionTime = metav1.NewTime(now)
		had := -1
		for i := range st.Conditions {
			if st.Conditions[i].Type == want.Type {
				had = i
			}
		}
		switch {
		case had < 0:
			st.Conditions = append(st.Conditions, want)
			changed = true
			continue
		case st.Conditions[had].Status == want.Status:
			want.LastTransitionTime = st.Conditions[had].LastTransitionTime
			if st.Conditions[had].Reason == want.Reason && st.Conditions[had].Message == want.Message {
				continue
			}
		}
		want.LastHeartbeatTime = st.Conditions[had].LastHeartbeatTime
		st.Conditions[had] = want
		changed = true
	}
	if changed {
		beat(st, now)
	}
	return changed
}

func beat(st *corev1.NodeStatus, now time.Time) {
	for i := range st.Conditions {
		switch st.Conditions[i].Type {
		case corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure:
			st.Conditions[i].LastHeartbeatTime = metav1.NewTime(now)
		}
	}
}
