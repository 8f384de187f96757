package controllertest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/controller/controllertest"
)

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

// hears is a handler that writes down what it hears, under its name.
func hears(name string, log *[]string) cache.ResourceEventHandler {
	of := func(obj any) string { p := obj.(*corev1.Pod); return p.Name + "@" + p.Spec.NodeName }
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if initial {
				*log = append(*log, name+" initial")
			}
			*log = append(*log, name+" add "+of(obj))
		},
		UpdateFunc: func(old, obj any) { *log = append(*log, name+" update "+of(old)+" "+of(obj)) },
		DeleteFunc: func(obj any) { *log = append(*log, name+" delete "+of(obj)) },
	}
}

func TestHandlersHaveHeardOfAnEventWhenItsMethodReturns(t *testing.T) {
	f := controllertest.NewFakeInformer()
	var log []string
	first, err := f.AddEventHandler(hears("first", &log))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.AddEventHandlerWithResyncPeriod(hears("second", &log), time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	f.Add(pod("web", ""))
	f.Update(pod("web", ""), pod("web", "n1"))
	if _, err := f.AddEventHandlerWithOptions(hears("late", &log), cache.HandlerOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.RemoveEventHandler(first); err != nil {
			t.Fatal(err)
		}
	}
	f.Delete(pod("web", "n1"))
	want := []string{
		"first add web@", "second add web@",
		"first update web@ web@n1", "second update web@ web@n1",
		"second delete web@n1", "late delete web@n1",
	}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	if err := controllertest.NewFakeInformer().RemoveEventHandler(first); err == nil {
		t.Error("a handler was removed from an informer it was not added to")
	}
}

func TestAHandlerMayUseItsInformerAndFindsTheObjectInItsStore(t *testing.T) {
	f := controllertest.NewFakeInformer()
	if err := f.AddIndexers(cache.Indexers{"node": func(obj any) ([]string, error) {
		return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	var registration cache.ResourceEventHandlerRegistration
	var onN1, heard int
	registration, err := f.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		heard++
		found, err := f.GetIndexer().ByIndex("node", "n1")
		if err != nil {
			t.Error(err)
		}
		onN1 = len(found)
		if err := f.RemoveEventHandler(registration); err != nil {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	for _, name := range []string{"second", "third"} {
		if _, err := f.AddEventHandler(hears(name, &log)); err != nil {
			t.Fatal(err)
		}
	}
	f.Add(pod("web", "n1"))
	if diff := cmp.Diff([]string{"second add web@n1", "third add web@n1"}, log); diff != "" {
		t.Errorf("heard by those behind the handler that removed itself (-want +got):\n%s", diff)
	}
	f.Add(pod("db", "n2"))
	if heard != 1 || onN1 != 1 {
		t.Errorf("heard %d events, found %d objects, want one each", heard, onN1)
	}
	f.Update(pod("db", "n2"), pod("db", "n3"))
	if found, err := f.GetIndexer().ByIndex("node", "n3"); err != nil || len(found) != 1 {
		t.Errorf("after the update the index finds %v, error %v", found, err)
	}
	f.Delete(pod("web", ""))
	if diff := cmp.Diff([]string{"default/db"}, f.GetStore().ListKeys()); diff != "" {
		t.Errorf("store (-want +got):\n%s", diff)
	}
}

func TestInformerAndRegistrationsAreSyncedTogether(t *testing.T) {
	f := controllertest.NewFakeInformer()
	registration, err := f.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(want bool) {
		t.Helper()
		got := map[string]bool{
			"informer": f.HasSynced(), "informer's checker": cache.IsDone(f.HasSyncedChecker()), "informer's channel": cache.IsDone(f),
			"registration": registration.HasSynced(), "registration's checker": cache.IsDone(registration.HasSyncedChecker()),
		}
		for what, is := range got {
			if is != want {
				t.Errorf("%s: synced is %t, want %t", what, is, want)
			}
		}
	}
	check(false)
	f.Synced()
	f.Synced()
	check(true)
	if !controllertest.NewFakeInformer(controllertest.Synced).HasSynced() {
		t.Error("an informer made with Synced is not synced")
	}
}

func TestRunIsCountedAndReturns(t *testing.T) {
	f := controllertest.NewFakeInformer()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { f.Run(nil) })
		all.Go(func() { f.RunWithContext(t.Context()) })
	}
	all.Wait()
	if f.RunCount != 8 {
		t.Errorf("counted %d runs, want 8", f.RunCount)
	}
}

func TestAnObjectWithoutMetadataIsToldOf(t *testing.T) {
	f := controllertest.NewFakeInformer()
	heard := 0
	if _, err := f.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj == nil {
			heard++
		}
	}}); err != nil {
		t.Fatal(err)
	}
	f.Add(nil)
	if heard != 1 {
		t.Errorf("heard %d times, want once", heard)
	}
}
