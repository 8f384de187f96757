package main

import (
	"testing"

	"github.com/operon-dev/operon/pkg/cache"
	corev1 "k8s.io/api/core/v1"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
)

// The contenders of a row must have the same objects in front of them.
func TestBothLibrariesGetAllObjectsInEveryForm(t *testing.T) {
	const n = 200
	pods, databases, configMaps := manyPods(n), manyDatabases(n), manyConfigMaps(n)
	typedConfigMaps := form{name: "ConfigMap", object: func() object { return &corev1.ConfigMap{} }, list: func() objectList { return &corev1.ConfigMapList{} },
		length: func(l objectList) int { return len(l.(*corev1.ConfigMapList).Items) }}
	typedDatabases := form{name: "Database", object: func() object { return &database{} }, list: func() objectList { return &databaseList{} },
		length: func(l objectList) int { return len(l.(*databaseList).Items) }}
	for _, test := range []struct {
		objects objectSet
		forms   []form
	}{
		{pods, []form{typedPods}},
		{pods, []form{unstructuredOf(pods.gvk)}},
		{pods, []form{metadataOf(pods.gvk)}},
		{pods, []form{typedPods, unstructuredOf(pods.gvk), metadataOf(pods.gvk)}},
		{configMaps, []form{typedConfigMaps}},
		{databases, []form{typedDatabases}},
		{databases, []form{unstructuredOf(databases.gvk)}},
	} {
		name := test.objects.plural
		for _, f := range test.forms {
			name += ", " + f.name
		}
		t.Run(name, func(t *testing.T) {
			s := newObjectServer(test.objects)
			defer s.close()
			ourFill, ours, err := ourFillable(s.http.URL, s.objectSet, cache.Options{}, test.forms...)
			if err != nil {
				t.Fatal(err)
			}
			peerFill, peers, err := peerFillable(s.http.URL, s.objectSet, peercache.Options{}, test.forms...)
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
