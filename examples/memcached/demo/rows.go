package main

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

// tone is how an object fares.
type tone int

const (
	settled tone = iota
	moving
	leaving
	broken
)

var kindOrder = []string{"Memcached", "Deployment", "ReplicaSet", "Service", "Pod"}

// row is what is shown of one object.
type row struct {
	uid        types.UID
	kind, name string
	state      string
	tone       tone
}

func (r row) String() string { return fmt.Sprintf("%s %s: %s", r.kind, r.name, r.state) }

func (s snapshot) describe() []string {
	var lines []string
	for _, r := range s.rows() {
		lines = append(lines, r.String())
	}
	if lines == nil {
		return []string{"nothing"}
	}
	return lines
}

func (s snapshot) rows() []row {
	var rows []row
	add := func(obj interface {
		GetUID() types.UID
		GetName() string
	}, kind, state string, t tone) {
		rows = append(rows, row{uid: obj.GetUID(), kind: kind, name: obj.GetName(), state: state, tone: t})
	}
	if m := s.memcached; m != nil {
		state, t := memcachedState(m)
		add(m, "Memcached", state, t)
	}
	for i := range s.deployments {
		d := &s.deployments[i]
		state, t := replicaState(ptr.Deref(d.Spec.Replicas, 1), d.Status.Replicas, d.Status.AvailableReplicas)
		add(d, "Deployment", state, t)
	}
	for i := range s.replicaSets {
		rs := &s.replicaSets[i]
		state, t := replicaState(ptr.Deref(rs.Spec.Replicas, 1), rs.Status.Replicas, rs.Status.AvailableReplicas)
		add(rs, "ReplicaSet", state, t)
	}
	for i := range s.services {
		service := &s.services[i]
		add(service, "Service", serviceState(service), settled)
	}
	for i := range s.pods {
		pod := &s.pods[i]
		state, t := podState(pod)
		if s.memcached != nil && slices.Contains(s.memcached.Status.Nodes, pod.Name) {
			state += ", in status.nodes"
		}
		add(pod, "Pod", state, t)
	}
	return rows
}

func memcachedState(m *cachev1alpha1.Memcached) (string, tone) {
	state := fmt.Sprintf("size %d, %d ready, %d nodes named", m.Spec.Size, m.Status.ReadyReplicas, len(m.Status.Nodes))
	t := moving
	if isTrue(m, cachev1alpha1.ConditionAvailable) {
		state += ", Available"
		t = settled
	}
	if isTrue(m, cachev1alpha1.ConditionProgressing) {
		state += ", Progressing"
		t = moving
	}
	if isTrue(m, cachev1alpha1.ConditionDegraded) {
		state += ", Degraded"
		t = broken
	}
	return state, t
}

func replicaState(wanted, existing, available int32) (string, tone) {
	state := fmt.Sprintf("%d wanted, %d there, %d available", wanted, existing, available)
	if wanted == existing && wanted == available {
		return state, settled
	}
	return state, moving
}

func serviceState(service *corev1.Service) string {
	var ports []string
	for _, p := range service.Spec.Ports {
		ports = append(ports, fmt.Sprintf("%d/%s", p.Port, p.Protocol))
	}
	address := service.Spec.ClusterIP
	if address == corev1.ClusterIPNone {
		address = "headless"
	}
	return address + ", " + strings.Join(ports, " ")
}

func podState(pod *corev1.Pod) (string, tone) {
	switch {
	case !pod.DeletionTimestamp.IsZero():
		return "Terminating", leaving
	case podReady(pod):
		return fmt.Sprintf("ready on %s at %s", pod.Spec.NodeName, pod.Status.PodIP), settled
	case pod.Status.Phase == corev1.PodFailed:
		return "Failed", broken
	case pod.Spec.NodeName != "":
		return fmt.Sprintf("%s on %s", pod.Status.Phase, pod.Spec.NodeName), moving
	}
	return string(pod.Status.Phase), moving
}
