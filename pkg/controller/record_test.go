package controller

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
)

// recorded runs a controller that is told of one event of the Pod default/frog, until there are n records.
func recorded(t *testing.T, o Options, n int) []reconcile.Record {
	t.Helper()
	records := make(chan reconcile.Record, 100)
	o.OnReconciled = func(r reconcile.Record) { records <- r }
	if o.RateLimiter == nil {
		o.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Millisecond, time.Second)
	}
	c, err := NewUnmanaged(strings.ReplaceAll(t.Name(), "/", "_"), o)
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan event.GenericEvent, 1)
	events <- event.GenericEvent{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "frog"}}}
	if err := c.Watch(source.Channel(events, &handler.EnqueueRequestForObject{})); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()
	var got []reconcile.Record
	for range n {
		select {
		case r := <-records:
			got = append(got, r)
		case <-time.After(time.Minute):
			t.Fatalf("%d records, want %d: %+v", len(got), n, got)
		}
	}
	return got
}

var frog = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "frog"}}

func TestARecordSaysWhatTriggeredTheReconciliationAndHowItEnded(t *testing.T) {
	answers := []func() (reconcile.Result, error){
		func() (reconcile.Result, error) { return reconcile.Result{}, io.EOF },
		func() (reconcile.Result, error) { panic("out of frogs") },
		func() (reconcile.Result, error) { return reconcile.Result{RequeueAfter: time.Millisecond}, nil },
		func() (reconcile.Result, error) { return requeue(), nil },
		func() (reconcile.Result, error) { return reconcile.Result{}, reconcile.TerminalError(io.EOF) },
	}
	calls := 0
	var logged []string
	got := recorded(t, Options{
		Logger: funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}),
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			calls++
			return answers[calls-1]()
		}),
	}, len(answers))
	event := reconcile.Trigger{Cause: reconcile.CauseGeneric, Kind: "Pod", Object: frog.NamespacedName}
	retry, again := reconcile.Trigger{Cause: reconcile.CauseRetry}, reconcile.Trigger{Cause: reconcile.CauseRequeue}
	want := []reconcile.Record{
		{Trigger: event, Outcome: "error"},
		{Trigger: retry, Outcome: "error", Panicked: true},
		{Trigger: retry, Outcome: "requeue_after"},
		{Trigger: again, Outcome: "requeue"},
		{Trigger: again, Outcome: "error", Terminal: true},
	}
	for i := range want {
		want[i].Controller, want[i].Request = t.Name(), frog
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(reconcile.Record{}, "ID", "Started", "Took", "Waited", "Result", "Err")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, r := range got {
		if r.ID == "" || r.Started.IsZero() || r.Took <= 0 || (r.Err != nil) != (r.Outcome == "error") {
			t.Errorf("record %d: %+v", i, r)
		}
	}
	if n := strings.Count(strings.Join(logged, "\n"), `"trigger"="generic of Pod default/frog"`); n != 1 {
		t.Errorf("the trigger is %d times in the log:\n%s", n, strings.Join(logged, "\n"))
	}
}

// answering is a client of a server that has every ConfigMap that it is asked for, and refuses to change any.
func answering(t *testing.T) client.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"frog"}}`
		switch {
		case r.Method != http.MethodGet:
			w.WriteHeader(http.StatusConflict)
			body = `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Conflict","code":409}`
		case strings.HasSuffix(r.URL.Path, "/configmaps"):
			body = `{"apiVersion":"v1","kind":"ConfigMapList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	c, err := client.New(&rest.Config{Host: s.URL, QPS: -1}, client.Options{HTTPClient: s.Client(), Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestARecordSaysWhatWasReadAndWritten(t *testing.T) {
	c := answering(t)
	cm := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "frog"}}
	}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	tests := map[string]struct {
		reconcile func(ctx context.Context)
		reads     int
		writes    int
		accesses  []reconcile.Access
		omitted   int
	}{
		"nothing": {reconcile: func(context.Context) {}},
		"reads and writes, some of them again": {
			func(ctx context.Context) {
				_ = c.Get(ctx, frog.NamespacedName, cm())
				_ = c.List(ctx, &corev1.ConfigMapList{}, client.InNamespace("default"))
				_ = c.Get(ctx, frog.NamespacedName, cm())
				_ = c.Update(ctx, cm())
				_ = c.Status().Update(ctx, cm())
			},
			3, 2,
			[]reconcile.Access{
				{Verb: client.VerbGet, Kind: kind, Key: frog.NamespacedName, Times: 2, Objects: 2},
				{Verb: client.VerbList, Kind: kind, Key: client.ObjectKey{Namespace: "default"}, Times: 1, Objects: 2},
				{Verb: client.VerbUpdate, Kind: kind, Key: frog.NamespacedName, Times: 1, Failed: 1},
				{Verb: client.VerbUpdate, Kind: kind, Key: frog.NamespacedName, Subresource: "status", Times: 1, Failed: 1},
			}, 0,
		},
		"from many goroutines": {
			func(ctx context.Context) {
				var all sync.WaitGroup
				for range 10 {
					all.Go(func() { _ = c.Get(ctx, frog.NamespacedName, cm()) })
				}
				all.Wait()
			},
			10, 0,
			[]reconcile.Access{{Verb: client.VerbGet, Kind: kind, Key: frog.NamespacedName, Times: 10, Objects: 10}}, 0,
		},
		"with another client's context it is not this reconciliation's": {
			reconcile: func(context.Context) { _ = c.Get(context.Background(), frog.NamespacedName, cm()) },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := recorded(t, Options{Reconciler: reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				tt.reconcile(ctx)
				return reconcile.Result{}, nil
			})}, 1)[0]
			if got.Reads != tt.reads || got.Writes != tt.writes || got.Omitted != tt.omitted {
				t.Errorf("%d reads, %d writes, %d omitted; want %d, %d, %d", got.Reads, got.Writes, got.Omitted, tt.reads, tt.writes, tt.omitted)
			}
			if diff := cmp.Diff(tt.accesses, got.Accesses); diff != "" {
				t.Errorf("accesses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARecordIsBoundedAndDoesNotChangeWhenItIsOver(t *testing.T) {
	c := answering(t)
	over := make(chan struct{})
	var left sync.WaitGroup
	got := recorded(t, Options{Reconciler: reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		for i := range reconcile.MaxAccesses + 10 {
			_ = c.Get(ctx, client.ObjectKey{Namespace: "default", Name: strings.Repeat("x", i+1)}, &corev1.ConfigMap{})
		}
		left.Go(func() {
			<-over
			_ = c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "x"}, &corev1.ConfigMap{})
		})
		return reconcile.Result{}, nil
	})}, 1)[0]
	close(over)
	left.Wait()
	if len(got.Accesses) != reconcile.MaxAccesses || got.Omitted != 10 || got.Reads != reconcile.MaxAccesses+10 {
		t.Errorf("%d accesses, %d omitted, %d reads", len(got.Accesses), got.Omitted, got.Reads)
	}
	if got.Accesses[0].Times != 1 {
		t.Errorf("a goroutine that outlived the reconciliation changed its record: %v", got.Accesses[0])
	}
}

func TestTheDetailedLogLineTellsTheWholeRecord(t *testing.T) {
	c := answering(t)
	var mu sync.Mutex
	var logged []string
	recorded(t, Options{
		Logger: funcr.New(func(_, args string) {
			mu.Lock()
			defer mu.Unlock()
			logged = append(logged, args)
		}, funcr.Options{Verbosity: 5}),
		Reconciler: reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, c.Get(ctx, frog.NamespacedName, &corev1.ConfigMap{})
		}),
	}, 1)
	mu.Lock()
	defer mu.Unlock()
	for _, line := range logged {
		if strings.Contains(line, `"msg"="Reconciled"`) {
			for _, want := range []string{
				`"trigger"="generic of Pod default/frog"`, `"reads"=1`, `"writes"=0`, `"outcome"="success"`,
				`"accesses"=["get v1 ConfigMap default/frog"]`,
			} {
				if !strings.Contains(line, want) {
					t.Errorf("no %s in %s", want, line)
				}
			}
			return
		}
	}
	t.Errorf("no line in %v", logged)
}
