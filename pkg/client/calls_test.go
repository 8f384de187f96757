package client_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/operon-dev/operon/pkg/client"
)

// calls are what an observer of calls was told.
type calls struct {
	mu  sync.Mutex
	all []call
}

type call struct {
	Verb, Subresource, Kind string
	Key                     client.ObjectKey
	Objects                 int
	Cached, Failed          bool
}

func (c *calls) ObserveCall(is client.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, call{
		is.Verb.String(), is.Subresource, is.Kind().Kind, is.Key(), is.Objects(), is.Cached(), is.Err != nil,
	})
}

func TestTheObserverOfAContextHearsOfEachCall(t *testing.T) {
	s := answering(t, `{"apiVersion":"v1","kind":"Status","status":"Success"}`)
	cm := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "w"}}
	}
	key := client.ObjectKey{Namespace: "n", Name: "w"}
	direct := s.client(t, client.Options{})
	cached := s.client(t, client.Options{Cache: &client.CacheOptions{Reader: &observer{}}})
	wrapped := client.WithFieldOwner(client.NewNamespacedClient(direct, "n"), "me")
	const kind = "ConfigMap"
	one := func(verb string) call { return call{Verb: verb, Kind: kind, Key: key} }
	status := func(verb string) call { return call{Verb: verb, Kind: kind, Key: key, Subresource: "status"} }
	for name, tt := range map[string]struct {
		do   func(ctx context.Context) error
		want call
	}{
		"get":  {func(ctx context.Context) error { return direct.Get(ctx, key, cm()) }, call{Verb: "get", Kind: kind, Key: key, Objects: 1}},
		"list": {func(ctx context.Context) error { return direct.List(ctx, &corev1.ConfigMapList{}) }, call{Verb: "list", Kind: kind}},
		"list in a namespace": {
			func(ctx context.Context) error {
				return direct.List(ctx, &corev1.ConfigMapList{}, client.InNamespace("n"))
			},
			call{Verb: "list", Kind: kind, Key: client.ObjectKey{Namespace: "n"}},
		},
		"create": {func(ctx context.Context) error { return direct.Create(ctx, cm()) }, one("create")},
		"update": {func(ctx context.Context) error { return direct.Update(ctx, cm()) }, one("update")},
		"patch":  {func(ctx context.Context) error { return direct.Patch(ctx, cm(), client.Merge) }, one("patch")},
		"apply":  {func(ctx context.Context) error { return direct.Apply(ctx, corev1ac.ConfigMap("w", "n")) }, one("apply")},
		"delete": {func(ctx context.Context) error { return direct.Delete(ctx, cm()) }, one("delete")},
		"delete all": {
			func(ctx context.Context) error { return direct.DeleteAllOf(ctx, cm(), client.InNamespace("n")) },
			call{Verb: "deletecollection", Kind: kind, Key: client.ObjectKey{Namespace: "n"}},
		},
		"status get": {
			func(ctx context.Context) error { return direct.SubResource("status").Get(ctx, cm(), cm()) },
			call{Verb: "get", Kind: kind, Key: key, Subresource: "status", Objects: 1},
		},
		"status create":                {func(ctx context.Context) error { return direct.Status().Create(ctx, cm(), cm()) }, status("create")},
		"status update":                {func(ctx context.Context) error { return direct.Status().Update(ctx, cm()) }, status("update")},
		"status patch":                 {func(ctx context.Context) error { return direct.Status().Patch(ctx, cm(), client.Merge) }, status("patch")},
		"status apply":                 {func(ctx context.Context) error { return direct.Status().Apply(ctx, corev1ac.ConfigMap("w", "n")) }, status("apply")},
		"through clients that wrap it": {func(ctx context.Context) error { return wrapped.Update(ctx, cm()) }, one("update")},
		"a read of the cache, and an error": {
			func(ctx context.Context) error {
				if err := cached.Get(ctx, key, cm()); !errors.Is(err, errReadOfCache) {
					return err
				}
				return nil
			},
			call{Verb: "get", Kind: kind, Key: key, Cached: true, Failed: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			heard := &calls{}
			must(t, name, tt.do(client.ObserveCalls(t.Context(), heard)))
			if diff := cmp.Diff([]call{tt.want}, heard.all); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			must(t, name, tt.do(t.Context()))
			if len(heard.all) != 1 {
				t.Error("a call with another context was told")
			}
		})
	}
}
