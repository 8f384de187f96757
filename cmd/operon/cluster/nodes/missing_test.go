package nodes

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/cmd/operon/cluster/nodes/podlife"
	"github.com/operon-dev/operon/pkg/client"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shelf is a Reader that has ConfigMap "there" and Secret "there", each with the key "k".
type shelf struct {
	client.Reader
	asked int
	err   error
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	s.asked++
	if s.err != nil {
		return s.err
	}
	if key.Name != "there" {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	switch o := obj.(type) {
	case *corev1.ConfigMap:
		o.Data = map[string]string{"k": ""}
	case *corev1.Secret:
		o.Data = map[string][]byte{"k": nil}
	}
	return nil
}

func configMapVolume(name, key string, optional bool) corev1.Volume {
	v := corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: &optional}
	if key != "" {
		v.Items = []corev1.KeyToPath{{Key: key}}
	}
	return corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &v}}
}

func secretEnv(name, key string, optional bool) []corev1.EnvVar {
	return []corev1.EnvVar{{Name: "E", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: &optional}}}}
}

func TestMissing(t *testing.T) {
	cases := map[string]struct {
		volumes []corev1.Volume
		env     []corev1.EnvVar
		volume  []string
		config  map[string]string
	}{
		"nothing is referred to":                 {},
		"everything is there":                    {volumes: []corev1.Volume{configMapVolume("there", "k", false)}, env: secretEnv("there", "k", false)},
		"what is optional may be missing":        {volumes: []corev1.Volume{configMapVolume("gone", "", true)}, env: secretEnv("gone", "k", true)},
		"a volume's object":                      {volumes: []corev1.Volume{configMapVolume("gone", "", false)}, volume: []string{`MountVolume.SetUp failed for volume "v" : configmap "gone" not found`}},
		"a volume's key":                         {volumes: []corev1.Volume{configMapVolume("there", "x", false)}, volume: []string{`MountVolume.SetUp failed for volume "v" : references non-existent config key: x`}},
		"a variable's object":                    {env: secretEnv("gone", "k", false), config: map[string]string{"c": `secret "gone" not found`}},
		"a variable's key":                       {env: secretEnv("there", "x", false), config: map[string]string{"c": `couldn't find key x in Secret ns/there`}},
		"what every pod mounts is not asked for": {volumes: []corev1.Volume{configMapVolume(publishedToAll, "", false)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: c.volumes, Containers: []corev1.Container{{Name: "c", Env: c.env}}}}
			pod.Namespace = "ns"
			p := &pods{live: &shelf{}}
			var w podlife.World
			incomplete, err := p.missing(t.Context(), pod, &w)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.volume, w.MissingVolumes); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.config, w.MissingConfig); diff != "" {
				t.Error(diff)
			}
			if want := len(c.volume)+len(c.config) > 0; incomplete != want {
				t.Errorf("incomplete: %v", incomplete)
			}
		})
	}
}

func TestMissingAsksOnceAndNotForRunningPods(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Volumes:    []corev1.Volume{configMapVolume("there", "k", false), configMapVolume("there", "", false)},
		Containers: []corev1.Container{{Name: "c", Env: secretEnv("there", "k", false)}, {Name: "d", Env: secretEnv("there", "k", false)}},
	}}
	s := &shelf{}
	p := &pods{live: s}
	if _, err := p.missing(t.Context(), pod, &podlife.World{}); err != nil || s.asked != 2 {
		t.Errorf("asked %d times, error %v", s.asked, err)
	}
	for range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
	if _, err := p.missing(t.Context(), pod, &podlife.World{}); err != nil || s.asked != 2 {
		t.Errorf("asked %d times, error %v", s.asked, err)
	}
}

func TestServerThatDoesNotAnswerIsNotTakenForMissing(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{configMapVolume("there", "k", false)}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{}}
	pod.Spec.Containers = []corev1.Container{{}}
	broken := errors.New("broken")
	if _, err := (&pods{live: &shelf{err: broken}}).missing(t.Context(), pod, &podlife.World{}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
