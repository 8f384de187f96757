package nodes

import (
	"context"
	"fmt"
	"time"

	"github.com/operon-dev/operon/cmd/operon/cluster/nodes/podlife"
	"github.com/operon-dev/operon/pkg/client"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// missingInterval is how often a pod that waits for configuration is looked at. Nothing is watched for it: a watch on all
// ConfigMaps and Secrets would cost more than the few pods that ever wait.
const missingInterval = time.Second

// publishedToAll is the ConfigMap that every namespace gets and every pod mounts: it is not worth a request for every pod.
const publishedToAll = "kube-root-ca.crt"

// missing puts into w which of the ConfigMaps, Secrets and trust bundles that the pod must have are not there, and says whether any is.
func (p *pods) missing(ctx context.Context, pod *corev1.Pod, w *podlife.World) (bool, error) {
	if over(pod) || pod.DeletionTimestamp != nil || started(pod) {
		return false, nil
	}
	l := lookup{reader: p.live, namespace: pod.Namespace}
	if pod.Status.PodIP == "" {
		for i := range pod.Spec.Volumes {
			v := &pod.Spec.Volumes[i]
			if text := l.volume(ctx, v); text != "" {
				w.MissingVolumes = append(w.MissingVolumes, fmt.Sprintf("MountVolume.SetUp failed for volume %q : %s", v.Name, text))
			}
		}
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if text := l.environment(ctx, &list[i]); text != "" {
				if w.MissingConfig == nil {
					w.MissingConfig = map[string]string{}
				}
				w.MissingConfig[list[i].Name] = text
			}
		}
	}
	return len(w.MissingVolumes) > 0 || len(w.MissingConfig) > 0, l.err
}

// started says whether all ordinary containers run or have run.
func started(pod *corev1.Pod) bool {
	n := 0
	for i := range pod.Status.ContainerStatuses {
		if cs := &pod.Status.ContainerStatuses[i]; cs.State.Running != nil || cs.State.Terminated != nil {
			n++
		}
	}
	return n == len(pod.Spec.Containers)
}

// lookup asks for ConfigMaps and Secrets, each of them once, and for trust bundles, and keeps the first error that is no answer.
type lookup struct {
	reader    client.Reader
	namespace string
	found     map[string]map[string]bool // keys by kind and name; nil for an object that does not exist
	err       error
}

func (l *lookup) volume(ctx context.Context, v *corev1.Volume) string {
	switch {
	case v.ConfigMap != nil:
		return l.items(ctx, "configmap", v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		return l.items(ctx, "secret", v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			text := ""
			switch {
			case s.ConfigMap != nil:
				text = l.items(ctx, "configmap", s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
			case s.Secret != nil:
				text = l.items(ctx, "secret", s.Secret.Name, s.Secret.Items, s.Secret.Optional)
			case s.ClusterTrustBundle != nil:
				text = l.bundle(ctx, s.ClusterTrustBundle)
			}
			if text != "" {
				return text
			}
		}
	}
	return ""
}

func (l *lookup) items(ctx context.Context, kind, name string, items []corev1.KeyToPath, optional *bool) string {
	if optional != nil && *optional || kind == "configmap" && name == publishedToAll {
		return ""
	}
	keys, ok := l.keys(ctx, kind, name)
	if !ok {
		return fmt.Sprintf("%s %q not found", kind, name)
	}
	for _, item := range items {
		if !keys[item.Key] {
			return "references non-existent " + map[string]string{"configmap": "config", "secret": "secret"}[kind] + " key: " + item.Key
		}
	}
	return ""
}

func (l *lookup) environment(ctx context.Context, c *corev1.Container) string {
	for _, from := range c.EnvFrom {
		text := ""
		switch {
		case from.ConfigMapRef != nil:
			text = l.key(ctx, "configmap", "ConfigMap", from.ConfigMapRef.Name, "", from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			text = l.key(ctx, "secret", "Secret", from.SecretRef.Name, "", from.SecretRef.Optional)
		}
		if text != "" {
			return text
		}
	}
	for _, env := range c.Env {
		text := ""
		switch from := env.ValueFrom; {
		case from == nil:
		case from.ConfigMapKeyRef != nil:
			text = l.key(ctx, "configmap", "ConfigMap", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional)
		case from.SecretKeyRef != nil:
			text = l.key(ctx, "secret", "Secret", from.SecretKeyRef.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Optional)
		}
		if text != "" {
			return text
		}
	}
	return ""
}

func (l *lookup) key(ctx context.Context, kind, display, name, key string, optional *bool) string {
	if optional != nil && *optional {
		return ""
	}
	keys, ok := l.keys(ctx, kind, name)
	if !ok {
		return fmt.Sprintf("%s %q not found", kind, name)
	}
	if key != "" && !keys[key] {
		return fmt.Sprintf("couldn't find key %s in %s %s/%s", key, display, l.namespace, name)
	}
	return ""
}

// keys returns the keys of the object, or that it does not exist.
func (l *lookup) keys(ctx context.Context, kind, name string) (map[string]bool, bool) {
	id := kind + "/" + name
	if keys, asked := l.found[id]; asked {
		return keys, keys != nil
	}
	keys := map[string]bool{}
	key := client.ObjectKey{Namespace: l.namespace, Name: name}
	var err error
	if kind == "secret" {
		var o corev1.Secret
		err = l.reader.Get(ctx, key, &o)
		for k := range o.Data {
			keys[k] = true
		}
	} else {
		var o corev1.ConfigMap
		err = l.reader.Get(ctx, key, &o)
		for k := range o.Data {
			keys[k] = true
		}
		for k := range o.BinaryData {
			keys[k] = true
		}
	}
	if err != nil {
		keys = nil
		if !apierrors.IsNotFound(err) {
			l.fail(fmt.Sprintf("%s %s/%s", kind, l.namespace, name), err)
		}
	}
	if l.found == nil {
		l.found = map[string]map[string]bool{}
	}
	l.found[id] = keys
	return keys, keys != nil
}
