package cache

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
)

func TestSharingChangesNoObject(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	changes := []func(*corev1.Pod){
		func(*corev1.Pod) {},
		func(p *corev1.Pod) { p.Labels = nil },
		func(p *corev1.Pod) { p.Labels["more"] = "" },
		func(p *corev1.Pod) { p.Annotations["prometheus.io/port"] = "9090" },
		func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] },
		func(p *corev1.Pod) { p.Spec.Containers[1].Env[1].Value = "debug" },
		func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = quantity.MustParse("2") },
		func(p *corev1.Pod) { delete(p.Spec.Containers[0].Resources.Requests, "cpu") },
		func(p *corev1.Pod) { p.Spec.Containers[0].LivenessProbe = nil },
		func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "x"}) },
		func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{} },
		func(p *corev1.Pod) { p.Status.StartTime = nil },
		func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil },
	}
	r := &resource{gvk: corev1.SchemeGroupVersion.WithKind("Pod"), goType: reflect.TypeFor[*corev1.Pod]()}
	for n := range 100 {
		a, b := benchPod(random.IntN(400)).DeepCopy(), benchPod(random.IntN(400)).DeepCopy()
		changes[random.IntN(len(changes))](a)
		changes[random.IntN(len(changes))](b)
		for _, f := range []form{formMetadata, formTyped, formFull} {
			admit := func(p *corev1.Pod) *entry {
				full, err := toFull(r, p)
				if err != nil {
					t.Fatal(err)
				}
				e, err := admission{resource: r, base: f, provides: r.upTo(f)}.entry(full, nil)
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			known, e := admit(b), admit(a)
			wantKnown, want := marshal(t, known), marshal(t, e)
			e.share(known)
			if got := marshal(t, e); got != want {
				t.Fatalf("round %d, %s: the object became\n%s\nand was\n%s", n, f, got, want)
			}
			if got := marshal(t, known); got != wantKnown {
				t.Fatalf("round %d, %s: the known object became\n%s\nand was\n%s", n, f, got, wantKnown)
			}
		}
	}
}

// marshal is all of an entry: its object and its metadata.
func marshal(t *testing.T, e *entry) string {
	raw, err := json.Marshal([]any{e.obj, e.meta})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
