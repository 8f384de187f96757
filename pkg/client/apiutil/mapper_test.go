package apiutil_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client/apiutil"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// api is a server that has nothing but discovery, and counts what it is asked.
type api struct {
	*httptest.Server
	mu      sync.Mutex
	served  map[string][]metav1.APIResource // by group version, in the order of versions
	order   []string
	broken  map[string]bool
	asked   []string
	arrive  chan string   // if not nil, gets the path of every request before it is answered
	proceed chan struct{} // if not nil, is waited for before a request is answered
}

func newAPI(t *testing.T) *api {
	a := &api{served: map[string][]metav1.APIResource{}, broken: map[string]bool{}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(func() {
		a.Client().CloseIdleConnections()
		a.Close()
	})
	a.serve("v1", namespaced("pods", "Pod"), clusterScoped("nodes", "Node"))
	a.serve("apps/v1", namespaced("deployments", "Deployment"))
	a.serve("example.com/v2", namespaced("widgets", "Widget"))
	a.serve("example.com/v1", namespaced("widgets", "Widget"), namespaced("relics", "Relic"))
	return a
}

func namespaced(plural, kind string) metav1.APIResource {
	return metav1.APIResource{Name: plural, SingularName: strings.ToLower(kind), Kind: kind, Namespaced: true}
}

func clusterScoped(plural, kind string) metav1.APIResource {
	return metav1.APIResource{Name: plural, SingularName: strings.ToLower(kind), Kind: kind}
}

func (a *api) serve(gv string, resources ...metav1.APIResource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.served[gv]; !ok {
		a.order = append(a.order, gv)
	}
	a.served[gv] = append(a.served[gv], resources...)
}

// requests returns what was asked since the last call.
func (a *api) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := a.asked
	a.asked = nil
	return asked
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.asked = append(a.asked, r.URL.Path)
	arrive, proceed := a.arrive, a.proceed
	answer, ok := a.document(r.URL.Path)
	broken := a.broken[r.URL.Path]
	a.mu.Unlock()
	if arrive != nil {
		arrive <- r.URL.Path
	}
	if proceed != nil {
		<-proceed
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case broken:
		w.WriteHeader(http.StatusServiceUnavailable)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	default:
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (a *api) document(path string) (any, bool) {
	groups := map[string]*metav1.APIGroup{}
	all := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	var names []string
	for _, gv := range a.order {
		group, version, ok := strings.Cut(gv, "/")
		if !ok {
			continue
		}
		v := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
		if groups[group] == nil {
			groups[group] = &metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: group, PreferredVersion: v}
			names = append(names, group)
		}
		groups[group].Versions = append(groups[group].Versions, v)
	}
	for _, name := range names {
		all.Groups = append(all.Groups, *groups[name])
	}
	path = strings.Trim(path, "/")
	switch {
	case path == "api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions", APIVersion: "v1"}, Versions: []string{"v1"}}, true
	case path == "apis":
		return all, true
	case groups[strings.TrimPrefix(path, "apis/")] != nil:
		return groups[strings.TrimPrefix(path, "apis/")], true
	}
	gv := strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/")
	resources, ok := a.served[gv]
	return metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv, APIResources: resources}, ok
}

func (a *api) mapper(t *testing.T) meta.RESTMapper {
	t.Helper()
	m, err := apiutil.NewDynamicRESTMapper(&rest.Config{Host: a.URL, QPS: -1}, a.Client())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestALookupAsksForNoMoreThanItNeeds(t *testing.T) {
	for name, test := range map[string]struct {
		look func(m meta.RESTMapper) (any, error)
		want string
		asks []string
	}{
		"kind with a version": {
			func(m meta.RESTMapper) (any, error) {
				return m.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Widget"}, "v1")
			},
			"example.com/v1, Resource=widgets", []string{"/apis/example.com/v1"},
		},
		"core kind with a version": {
			func(m meta.RESTMapper) (any, error) { return m.RESTMapping(schema.GroupKind{Kind: "Pod"}, "v1") },
			"/v1, Resource=pods", []string{"/api/v1"},
		},
		"core kind": {
			func(m meta.RESTMapper) (any, error) { return m.RESTMapping(schema.GroupKind{Kind: "Pod"}) },
			"/v1, Resource=pods", []string{"/api/v1"},
		},
		"kind": {
			func(m meta.RESTMapper) (any, error) {
				return m.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Widget"})
			},
			"example.com/v2, Resource=widgets", []string{"/apis/example.com", "/apis/example.com/v2", "/apis/example.com/v1"},
		},
		"kind that the preferred version does not have": {
			func(m meta.RESTMapper) (any, error) {
				return m.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Relic"})
			},
			"example.com/v1, Resource=relics", []string{"/apis/example.com", "/apis/example.com/v2", "/apis/example.com/v1"},
		},
		"kind with a choice of versions": {
			func(m meta.RESTMapper) (any, error) {
				return m.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Widget"}, "v3", "v1")
			},
			"example.com/v1, Resource=widgets", []string{"/apis/example.com", "/apis/example.com/v2", "/apis/example.com/v1"},
		},
		"resource with a group and a version": {
			func(m meta.RESTMapper) (any, error) {
				return m.KindFor(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
			},
			"apps/v1, Kind=Deployment", []string{"/apis/apps/v1"},
		},
		"resource without a group": {
			func(m meta.RESTMapper) (any, error) {
				return m.ResourceFor(schema.GroupVersionResource{Resource: "widget"})
			},
			"example.com/v2, Resource=widgets", []string{"/api", "/apis", "/api/v1", "/apis/apps/v1", "/apis/example.com/v1", "/apis/example.com/v2"},
		},
		"singular": {
			func(m meta.RESTMapper) (any, error) { return m.ResourceSingularizer("deployments") },
			"deployment", []string{"/api", "/apis", "/api/v1", "/apis/apps/v1", "/apis/example.com/v1", "/apis/example.com/v2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			m := a.mapper(t)
			if asked := a.requests(); len(asked) != 0 {
				t.Errorf("making the mapper asked for %v", asked)
			}
			for range 3 {
				found, err := test.look(m)
				if err != nil {
					t.Fatal(err)
				}
				var got string
				switch found := found.(type) {
				case *meta.RESTMapping:
					got = found.Resource.String()
				case interface{ String() string }:
					got = found.String()
				case string:
					got = found
				}
				if got != test.want {
					t.Errorf("found %s, want %s", got, test.want)
				}
			}
			asked := a.requests()
			slices.Sort(asked)
			slices.Sort(test.asks)
			if diff := cmp.Diff(test.asks, asked); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatArrivesLateIsFoundByAskingForItsGroup(t *testing.T) {
	a := newAPI(t)
	m := a.mapper(t)
	gadget := schema.GroupKind{Group: "late.io", Kind: "Gadget"}
	for range 2 {
		if _, err := m.RESTMapping(gadget, "v1"); !meta.IsNoMatchError(err) {
			t.Errorf("got %v, want no match", err)
		}
		if _, err := m.RESTMapping(gadget); !meta.IsNoMatchError(err) {
			t.Errorf("got %v, want no match", err)
		}
	}
	if _, err := m.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Widget"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.KindsFor(schema.GroupVersionResource{Resource: "gadgets"}); !meta.IsNoMatchError(err) {
		t.Errorf("got %v, want no match", err)
	}
	a.requests()

	a.serve("late.io/v1", namespaced("gadgets", "Gadget"))
	if _, err := m.RESTMapping(gadget, "v1"); err != nil {
		t.Error(err)
	}
	a.serve("example.com/v1", clusterScoped("cogs", "Cog"))
	mapping, err := m.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Cog"}, "v1")
	if err != nil || mapping.Scope != meta.RESTScopeRoot {
		t.Errorf("got %v, %v", mapping, err)
	}
	a.serve("example.com/v3", namespaced("widgets", "Widget"))
	if _, err := m.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Widget"}, "v3"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"/apis/late.io/v1", "/apis/example.com/v1", "/apis/example.com/v3"}, a.requests()); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	if kinds, err := m.KindsFor(schema.GroupVersionResource{Resource: "gadgets"}); err != nil || len(kinds) != 1 {
		t.Errorf("got %v, %v", kinds, err)
	}
	if kind, err := m.KindFor(schema.GroupVersionResource{Resource: "pods"}); err != nil || kind.Kind != "Pod" {
		t.Errorf("got %v, %v", kind, err)
	}
}

func TestResetForgets(t *testing.T) {
	a := newAPI(t)
	m := a.mapper(t)
	for range 2 {
		if _, err := m.RESTMapping(schema.GroupKind{Kind: "Pod"}, "v1"); err != nil {
			t.Fatal(err)
		}
		meta.MaybeResetRESTMapper(m)
	}
	if asked := a.requests(); len(asked) != 2 {
		t.Errorf("asked for %v", asked)
	}
}

func TestABrokenGroupHidesNoOther(t *testing.T) {
	a := newAPI(t)
	a.serve("metrics.io/v1", namespaced("loads", "Load"))
	a.broken["/apis/metrics.io/v1"] = true
	m := a.mapper(t)
	if kind, err := m.KindFor(schema.GroupVersionResource{Resource: "deployments"}); err != nil || kind.Kind != "Deployment" {
		t.Errorf("got %v, %v", kind, err)
	}
	_, err := m.RESTMapping(schema.GroupKind{Group: "metrics.io", Kind: "Load"}, "v1")
	var failed *apiutil.ErrResourceDiscoveryFailed
	if !errors.As(err, &failed) || (*failed)[schema.GroupVersion{Group: "metrics.io", Version: "v1"}] == nil || meta.IsNoMatchError(err) {
		t.Errorf("got %v, want to be told that metrics.io/v1 cannot be asked", err)
	}
	a.mu.Lock()
	a.broken = nil
	a.mu.Unlock()
	if _, err := m.RESTMapping(schema.GroupKind{Group: "metrics.io", Kind: "Load"}); err != nil {
		t.Error(err)
	}
}

func TestCallersShareARequestButNotAnAnswerOlderThanTheirQuestion(t *testing.T) {
	a := newAPI(t)
	m := a.mapper(t)
	a.arrive, a.proceed = make(chan string), make(chan struct{})
	gadget := schema.GroupKind{Group: "late.io", Kind: "Gadget"}

	first := make(chan error)
	go func() { _, err := m.RESTMapping(gadget, "v1"); first <- err }()
	<-a.arrive // the first request has been made, and will be answered with "not found"
	a.serve("late.io/v1", namespaced("gadgets", "Gadget"))
	const callers = 5
	later := make(chan error)
	for range callers {
		go func() { _, err := m.RESTMapping(gadget, "v1"); later <- err }()
	}
	a.proceed <- struct{}{}
	if err := <-first; !meta.IsNoMatchError(err) {
		t.Errorf("the first caller got %v, want no match", err)
	}
	go func() {
		for range a.arrive {
			a.proceed <- struct{}{}
		}
	}()
	for range callers {
		if err := <-later; err != nil {
			t.Errorf("a later caller got %v", err)
		}
	}
	if n := len(a.requests()); n > 3 {
		t.Errorf("%d requests were made for %d callers", n, callers+1)
	}
	close(a.arrive)
}

func TestACallerThatGivesUpTakesNoOtherWithIt(t *testing.T) {
	a := newAPI(t)
	m := meta.ToRESTMapperWithContext(a.mapper(t))
	a.arrive, a.proceed = make(chan string), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan error)
	go func() { _, err := m.RESTMappingWithContext(ctx, schema.GroupKind{Kind: "Pod"}, "v1"); first <- err }()
	<-a.arrive
	go func() {
		_, err := m.RESTMappingWithContext(t.Context(), schema.GroupKind{Kind: "Pod"}, "v1")
		second <- err
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up got %v", err)
	}
	a.proceed <- struct{}{} // the handler of the request given up
	<-a.arrive
	a.proceed <- struct{}{}
	if err := <-second; err != nil {
		t.Errorf("the other caller got %v", err)
	}
}
