package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

func TestRegenerateMakesWhatTheVerbsMade(t *testing.T) {
	for _, certificates := range []string{byCertManager, byManager} {
		t.Run(certificates, func(t *testing.T) { testRegenerate(t, certificates) })
	}
}

func testRegenerate(t *testing.T, certificates string) {
	p := newProject(t)
	commit := func(set *fileset.Set, _ *project.Resource, err error) {
		t.Helper()
		if err == nil {
			err = set.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	yes, no := choice{set: true, value: true}, choice{set: true}
	memcached := gvk{"cache", "v1", "Memcached"}
	for _, opts := range []apiOptions{
		{gvk: memcached, namespaced: true, image: image{Name: "memcached:1", Port: 11211, Command: []string{"memcached", "-v"}}},
		{gvk: gvk{"cache", "v2", "Memcached"}, namespaced: true, resource: yes, controller: no},
		{gvk: memcached, resource: no, controller: yes, controllerName: "memcached-backup"},
		{gvk: gvk{"cache", "v1", "Redis"}, plural: "redises", resource: yes, controller: no},
		{gvk: gvk{"apps", "v1", "Deployment"}, resource: no, controller: yes},
		{gvk: gvk{"cert-manager", "v1", "Certificate"}, resource: no, controller: yes, external: externalAPI{path: "example.com/cm/v1", domain: "io"}},
	} {
		commit(createAPI(p, opts, nil))
	}
	on := true
	set, err := editProject(p, editOptions{multiGroup: &on})
	commit(set, nil, err)
	commit(createAPI(p, apiOptions{gvk: gvk{"ship", "v1", "Frigate"}, namespaced: true, resource: yes, controller: yes}, nil))
	for _, opts := range []webhookOptions{
		{gvk: memcached, conversion: true, spokes: []string{"v2"}, certificates: certificates},
		{gvk: gvk{"cache", "v1", "Redis"}, defaulting: true, defaultingPath: "/redis"},
		{gvk: gvk{"ship", "v1", "Frigate"}, defaulting: true, validation: true},
		{gvk: gvk{"core", "v1", "Pod"}, validation: true},
	} {
		commit(createWebhook(p, opts))
	}

	p, err = project.Load(p.Root())
	if err != nil {
		t.Fatal(err)
	}
	from, err := origin.Find()
	if err != nil {
		t.Fatal(err)
	}
	made, err := Regenerate(p, from, templates.Set{})
	if err != nil {
		t.Fatal(err)
	}
	if len(made) < 50 {
		t.Errorf("only %d files are made", len(made))
	}
	for path, content := range made {
		have, err := os.ReadFile(filepath.Join(p.Root(), path))
		if diff := cmp.Diff(string(have), content); err != nil || diff != "" {
			t.Errorf("%s: %v (-verbs +Regenerate):\n%s", path, err, diff)
		}
	}
}

func TestAScaffoldFromBeforeTheManagerMadeCertificatesIsThatForCertManager(t *testing.T) {
	p := newProject(t)
	set, _, err := createAPI(p, apiOptions{gvk: gvk{"cache", "v1", "Memcached"}, namespaced: true}, nil)
	if err == nil {
		err = set.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	set, _, err = createWebhook(p, webhookOptions{gvk: gvk{"cache", "v1", "Memcached"}, defaulting: true, certificates: byManager})
	if err == nil {
		err = set.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	from, err := origin.Find()
	if err != nil {
		t.Fatal(err)
	}
	sets, err := templates.Archived()
	if err != nil {
		t.Fatal(err)
	}
	made, err := Regenerate(p, from, sets[len(sets)-1])
	if err != nil || made[layout.CertManagerKustomization] == "" || strings.Contains(made[layout.Main], "WebhookCertificates") {
		t.Errorf("the first scaffold has %d files, main is:\n%s\n%v", len(made), made[layout.Main], err)
	}
}

func TestArchivedScaffoldsCanBeMadeStill(t *testing.T) {
	p := newProject(t)
	p.Add(&project.Resource{Group: "cache", Version: "v1", Kind: "Memcached", Domain: "example.com", API: &project.API{Namespaced: true}, Controller: true,
		Path: "example.com/p/api/v1", Webhooks: &project.Webhooks{Defaulting: true, Validation: true}})
	from, err := origin.Find()
	if err != nil {
		t.Fatal(err)
	}
	sets, err := templates.Archived()
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		made, err := Regenerate(p, from, set)
		if err != nil || made["cmd/main.go"] == "" || made["Makefile"] == "" {
			t.Errorf("%s: %d files, %v", set.Name, len(made), err)
		}
	}
}
