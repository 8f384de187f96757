package controllers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

func claim(name string, class *string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: class,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

func bound(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimBound }

func TestAVolumeIsAsItsClassSays(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(start(t))
	name := unique("kept-")
	policy := corev1.PersistentVolumeReclaimRetain
	if _, err := client.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "operon.dev/simulated",
		ReclaimPolicy: &policy, MountOptions: []string{"noatime"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	claims := client.CoreV1().PersistentVolumeClaims("default")
	if _, err := claims.Create(t.Context(), claim(name, &name), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c := await(t, "a bound claim", name, claims.Watch, bound)
	volumes := client.CoreV1().PersistentVolumes()
	v, err := volumes.Get(t.Context(), c.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := []any{v.Spec.StorageClassName, v.Spec.PersistentVolumeReclaimPolicy, v.Spec.MountOptions}
	if d := cmp.Diff([]any{name, policy, []string{"noatime"}}, got); d != "" {
		t.Errorf("volume (-want +got):\n%s", d)
	}
	if err := claims.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "a released volume that is retained", v.Name, volumes.Watch, func(v *corev1.PersistentVolume) bool {
		return v.Status.Phase == corev1.VolumeReleased
	})
}

func TestAVolumeGrowsWithItsClaim(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(start(t))
	name := unique("grows-")
	claims := client.CoreV1().PersistentVolumeClaims("default")
	if _, err := claims.Create(t.Context(), claim(name, nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c := await(t, "a bound claim", name, claims.Watch, bound)
	more := []byte(`{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	if _, err := claims.Patch(t.Context(), name, types.MergePatchType, more, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	size := resource.MustParse("3Gi")
	await(t, "a claim that has grown", name, claims.Watch, func(c *corev1.PersistentVolumeClaim) bool { return c.Status.Capacity.Storage().Equal(size) })
	v, err := client.CoreV1().PersistentVolumes().Get(t.Context(), c.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Spec.Capacity.Storage().Equal(size) {
		t.Errorf("the volume has %s, want %s", v.Spec.Capacity.Storage(), &size)
	}
}
