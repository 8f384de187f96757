package main

import (
	"testing"

	"github.com/operon-dev/operon/bench/served"
	"github.com/operon-dev/operon/pkg/cache"
	corev1 "k8s.io/api/core/v1"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
)

// The contenders of a row must have the same objects in front of them.
func TestBothLibrariesGetAllObjectsInEveryForm(t *testing.T) {
	const n = 200
	pods, databases, configMaps := served.Pods(n), served.Databases(n), served.ConfigMaps(n)
	typedConfigMaps := form{name: "ConfigMap", object: func() object { return &corev1.ConfigMap{} }, list: func() objectList { return &corev1.ConfigMapList{} },
		length: func(l objectList) int { return len(l.(*corev1.ConfigMapList).Items) }}
	typedDatabases := form{name: "Database", object: func() object { return &served.Database{} }, list: func() objectList { return &served.DatabaseList{} },
		length: func(l objectList) int { return len(l.(*served.DatabaseList).Items) }}
	for _, test := range []struct {
		objects served.Set
		forms   []form
	}{
		{pods, []form{typedPods}},
		{pods, []form{unstructuredOf(pods.GVK)}},
		{pods, []form{metadataOf(pods.GVK)}},
		{pods, []form{typedPods, unstructuredOf(pods.GVK), metadataOf(pods.GVK)}},
		{configMaps, []form{typedConfigMaps}},
		{databases, []form{typedDatabases}},
		{databases, []form{unstructuredOf(databases.GVK)}},
	} {
		name := test.objects.Plural
		for _, f := range test.forms {
			name += ", " + f.name
		}
		t.Run(name, func(t *testing.T) {
			s := served.NewServer(test.objects)
			defer s.Close()
			ourFill, ours, err := ourFillable(s.URL(), s.Set, cache.Options{}, test.forms...)
			if err != nil {
				t.Fatal(err)
			}
			peerFill, peers, err := peerFillable(s.URL(), s.Set, peercache.Options{}, test.forms...)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []fillable{ourFill, peerFill} {
				full, err := fill(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := full.running.stop(); err != nil {
						t.Error(err)
					}
				}()
			}
			for _, f := range test.forms {
				mine, theirs := f.list(), f.list()
				if err := ours.List(t.Context(), mine); err != nil {
					t.Fatal(err)
				}
				if err := peers.List(t.Context(), theirs); err != nil {
					t.Fatal(err)
				}
				if f.length(mine) != n || f.length(theirs) != n {
					t.Errorf("%s: %d objects in Operon's cache, %d in the peer's, want %d", f.name, f.length(mine), f.length(theirs), n)
				}
			}
		})
	}
}
