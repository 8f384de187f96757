package manager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// still is an API server without a network where nothing happens to some ConfigMaps: hours pass in no time while it is watched.
type still []string

func (s still) config() *rest.Config {
	return &rest.Config{Host: "http://still", QPS: -1, Transport: s}
}

func (s still) mapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return m, nil
}

// RoundTrip implements http.RoundTripper: it answers streamed lists, which do not end.
func (s still) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("sendInitialEvents") != "true" {
		return nil, fmt.Errorf("%s %s: only streamed lists are served here", r.Method, r.URL)
	}
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	body, stream := io.Pipe()
	go func() {
		send := json.NewEncoder(stream)
		for i, name := range s {
			_ = send.Encode(map[string]any{"type": "ADDED", "object": &corev1.ConfigMap{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: name, UID: "uid-1", ResourceVersion: fmt.Sprint(i + 1),
			}}})
		}
		_ = send.Encode(map[string]any{"type": "BOOKMARK", "object": &corev1.ConfigMap{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "100", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}}})
		<-r.Context().Done()
		stream.CloseWithError(r.Context().Err())
	}()
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	}, nil
}

// resyncs notes when each object was told of again.
type resyncs struct {
	t     *testing.T
	begun time.Time

	mu   sync.Mutex
	told map[string][]time.Duration
}

func (r *resyncs) OnAdd(any, bool) {}
func (r *resyncs) OnDelete(obj any) {
	r.t.Errorf("told that %T was deleted", obj)
}

func (r *resyncs) OnUpdate(old, now any) {
	o, n := old.(*corev1.ConfigMap), now.(*corev1.ConfigMap)
	if o.Name != n.Name || o.ResourceVersion != n.ResourceVersion {
		r.t.Errorf("%s at %s became %s at %s, though nothing happens", o.Name, o.ResourceVersion, n.Name, n.ResourceVersion)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[n.Name] = append(r.told[n.Name], time.Since(r.begun))
}

// TestEveryObjectIsToldOfAgainAfterTheSyncPeriod sets the period as users do, and has hours pass.
func TestEveryObjectIsToldOfAgainAfterTheSyncPeriod(t *testing.T) {
	const never = 0
	all := still{"a", "b", "c"}
	period := func(d time.Duration) *time.Duration { return &d }
	for name, tt := range map[string]struct {
		options cache.Options
		handler *time.Duration // that the handler asks for
		want    time.Duration
	}{
		"unset":             {cache.Options{}, nil, 10 * time.Hour},
		"set":               {cache.Options{SyncPeriod: period(30 * time.Minute)}, nil, 30 * time.Minute},
		"zero":              {cache.Options{SyncPeriod: period(0)}, nil, never},
		"negative":          {cache.Options{SyncPeriod: period(-time.Hour)}, nil, never},
		"of a kind":         {cache.Options{SyncPeriod: period(time.Minute), ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {SyncPeriod: period(time.Hour)}}}, nil, time.Hour},
		"of a namespace":    {cache.Options{SyncPeriod: period(time.Minute), DefaultNamespaces: map[string]cache.Config{"default": {SyncPeriod: period(2 * time.Hour)}}}, nil, 2 * time.Hour},
		"of a handler":      {cache.Options{}, period(time.Hour), time.Hour},
		"none of a handler": {cache.Options{SyncPeriod: period(time.Minute)}, period(0), never},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mgr := newManager(t, all.config(), ctrl.Options{Cache: tt.options, MapperProvider: all.mapper})
				stop := start(mgr)
				defer func() {
					if err := stop(); err != nil {
						t.Error(err)
					}
				}()
				synctest.Wait()
				informer, err := mgr.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{})
				if err != nil {
					t.Fatal(err)
				}
				handlers := make([]*resyncs, 20)
				for i := range handlers {
					handlers[i] = &resyncs{t: t, begun: time.Now(), told: map[string][]time.Duration{}}
					if _, err := informer.AddEventHandlerWithOptions(handlers[i], toolscache.HandlerOptions{ResyncPeriod: tt.handler}); err != nil {
						t.Fatal(err)
					}
				}
				const rounds = 3
				wait := tt.want*rounds + tt.want*4/10 // the third is due by 3.3 periods, the fourth from 3.6 on
				if tt.want == never {
					wait = 1000 * time.Hour
				}
				time.Sleep(wait)
				synctest.Wait()
				first := map[time.Duration]bool{}
				for _, h := range handlers {
					h.mu.Lock()
					if tt.want == never {
						if len(h.told) > 0 {
							t.Errorf("told again: %v", h.told)
						}
						h.mu.Unlock()
						continue
					}
					for _, name := range all {
						if len(h.told[name]) != rounds {
							t.Errorf("%s: told of again after %v, want it %d times in %s", name, h.told[name], rounds, wait)
						}
						for i, at := range h.told[name] {
							due := tt.want * time.Duration(i+1)
							if at < due*9/10 || at > due*11/10 {
								t.Errorf("%s: told of again after %s, want it within a tenth of %s", name, at, due)
							}
							if i == 0 {
								first[at] = true
							}
						}
					}
					h.mu.Unlock()
				}
				if tt.want != never && len(first) < len(handlers)/2 {
					t.Errorf("%d handlers were told at %d different times: too much at once", len(handlers), len(first))
				}
			})
		})
	}
}

// TestAResyncIsReconciled has a controller whose objects do not change for a day.
func TestAResyncIsReconciled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := still{"a", "b", "c"}
		mgr := newManager(t, all.config(), ctrl.Options{MapperProvider: all.mapper})
		var mu sync.Mutex
		reconciled := map[string]int{}
		err := ctrl.NewControllerManagedBy(mgr).Named("resynced").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(_ context.Context, req ctrl.Request) (ctrl.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			reconciled[req.Name]++
			return ctrl.Result{}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		stop := start(mgr)
		begun := time.Now()
		for _, step := range []struct {
			at   time.Duration
			want int
		}{{8 * time.Hour, 1}, {11*time.Hour + time.Minute, 2}, {17 * time.Hour, 2}, {22*time.Hour + time.Minute, 3}} {
			time.Sleep(step.at - time.Since(begun))
			synctest.Wait()
			mu.Lock()
			for _, name := range all {
				if reconciled[name] != step.want {
					t.Errorf("after %s %s was reconciled %d times, want %d", step.at, name, reconciled[name], step.want)
				}
			}
			mu.Unlock()
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestNothingThatWaitsHasAGoroutine has a thousand objects wait, first for the time they are to be reconciled again, then, after a
// resync, for the only worker.
func TestNothingThatWaitsHasAGoroutine(t *testing.T) {
	const many = 1000
	var all still
	for i := range many {
		all = append(all, fmt.Sprint("cm-", i))
	}
	synctest.Test(t, func(t *testing.T) {
		mgr := newManager(t, all.config(), ctrl.Options{MapperProvider: all.mapper})
		var calls atomic.Int64
		hold := make(chan struct{})
		err := ctrl.NewControllerManagedBy(mgr).Named("crowded").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
			if calls.Add(1) > many {
				<-hold
			}
			return ctrl.Result{RequeueAfter: 24 * time.Hour}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		before := runtime.NumGoroutine()
		stop := start(mgr)
		time.Sleep(time.Hour)
		synctest.Wait()
		if calls.Load() != many {
			t.Errorf("%d reconciliations of %d objects", calls.Load(), many)
		}
		delayed := runtime.NumGoroutine()
		time.Sleep(11 * time.Hour)
		synctest.Wait()
		if calls.Load() != many+1 {
			t.Errorf("%d reconciliations have begun, want %d", calls.Load(), many+1)
		}
		// The manager's own are some dozens.
		if queued := runtime.NumGoroutine(); delayed > before+100 || queued > delayed+5 {
			t.Errorf("%d goroutines before the start, %d with %d requests that are delayed, %d with as many that are due", before, delayed, many, queued)
		}
		close(hold)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
