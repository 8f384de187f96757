package controllers_test

import (
	"context"
	"testing"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

func TestAVolumeAttributesClassThatIsNotUsedCanBeDeleted(t *testing.T) {
	classes := kubernetes.NewForConfigOrDie(start(t)).StorageV1().VolumeAttributesClasses()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	class, err := classes.Create(ctx, &storagev1.VolumeAttributesClass{
		ObjectMeta: metav1.ObjectMeta{Name: unique("gold-")}, DriverName: "example.com/driver", Parameters: map[string]string{"iops": "5000"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(class.Finalizers) == 0 {
		t.Error("admission put no finalizer on it")
	}
	w, err := classes.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + class.Name, ResourceVersion: class.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := classes.Delete(ctx, class.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for e := range w.ResultChan() {
		if e.Type == watch.Deleted {
			return
		}
	}
	t.Error("it was not deleted")
}
