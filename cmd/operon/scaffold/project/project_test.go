package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kubebuilders is a file as kubebuilder v4.10 writes it, with what plugins keep.
const kubebuilders = `# A head
# of two lines
cliVersion: v4.10.1
domain: example.com
layout:
- go.kubebuilder.io/v4
multigroup: true
plugins:
  deploy-image.go.kubebuilder.io/v1-alpha:
    resources:
    - domain: example.com
      group: web
      kind: Busy
      options:
        containerPort: "8080"
        image: busybox:1.28
      version: v1
projectName: p
repo: example.com/p
resources:
- api:
    crdVersion: v1
    namespaced: true
  controller: true
  domain: example.com
  future: kept
  group: web
  kind: Busy
  path: example.com/p/api/web/v1
  plural: busybodies
  version: v1
  webhooks:
    conversion: true
    spoke:
    - v2
    validation: true
    webhookVersion: v1
- controller: true
  core: true
  group: apps
  kind: Deployment
  path: k8s.io/api/apps/v1
  version: v1
- controllers:
  - name: certificate
  - name: certificate-backup
  domain: io
  external: true
  group: cert-manager
  kind: Certificate
  module: github.com/cert-manager/cert-manager@v1.18.0
  path: github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1
  version: v1
version: "3"
`

func TestAFileIsWrittenAsItWasRead(t *testing.T) {
	p, err := Parse([]byte(kubebuilders))
	if err != nil {
		t.Fatal(err)
	}
	data, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kubebuilders, string(data)); diff != "" {
		t.Errorf("(-read +written):\n%s", diff)
	}
}

func TestResourcesAreFound(t *testing.T) {
	p, err := Parse([]byte(kubebuilders))
	if err != nil {
		t.Fatal(err)
	}
	busy := p.Resource("web", "v1", "Busy")
	if busy == nil || busy.QualifiedGroup() != "web.example.com" || !p.HasWebhooks() {
		t.Errorf("Busy: %+v", busy)
	}
	if p.Resource("web", "v2", "Busy") != nil {
		t.Error("a version that is not there was found")
	}
	p.Remove(busy)
	if p.Resource("web", "v1", "Busy") != nil || len(p.Resources) != 2 || p.HasWebhooks() {
		t.Errorf("after Remove: %+v", p.Resources)
	}
}

func TestControllersAreNotedSoThatOlderToolsReadAsMuchAsTheyCan(t *testing.T) {
	r := &Resource{Kind: "Captain"}
	r.AddController("", "captain")
	if !r.Controller || r.Controllers != nil {
		t.Errorf("one controller: %+v", r)
	}
	r.AddController("captain-backup", "captain")
	if diff := cmp.Diff([]string{"captain", "captain-backup"}, r.ControllerNames()); diff != "" || r.Controller {
		t.Errorf("two controllers (-want +got):\n%s", diff)
	}
	if !r.HasController("", "captain") || !r.HasController("captain", "captain") || r.HasController("other", "captain") {
		t.Errorf("HasController: %+v", r)
	}
}

func TestImagesAreKeptWhereKubebuilderKeepsThem(t *testing.T) {
	p, err := Parse([]byte(kubebuilders))
	if err != nil {
		t.Fatal(err)
	}
	busy := p.Resource("web", "v1", "Busy")
	got, ok := p.ImageOf(busy)
	if diff := cmp.Diff(Image{Image: "busybox:1.28", ContainerPort: "8080"}, got); diff != "" || !ok {
		t.Errorf("ImageOf (-want +got):\n%s", diff)
	}
	if err := p.SetImage(busy, nil); err != nil {
		t.Fatal(err)
	}
	if data, err := p.Marshal(); err != nil || strings.Contains(string(data), "plugins") {
		t.Errorf("forgotten: %v\n%s", err, data)
	}
	if err := p.SetImage(busy, &got); err != nil {
		t.Fatal(err)
	}
	if data, err := p.Marshal(); err != nil || string(data) != kubebuilders {
		t.Errorf("noted again: %v\n%s", err, cmp.Diff(kubebuilders, string(data)))
	}
}

func TestFindLooksUpwards(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "api", "v1")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(below); !errors.Is(err, ErrNotFound) {
		t.Errorf("outside of a project: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, FileName), []byte(kubebuilders), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Find(below)
	if err != nil || p.Root() != root {
		t.Errorf("Find: %v, %v", p, err)
	}
}

func TestWhatIsNoProjectIsRefused(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"not YAML", "a: [", "not a valid project file"},
		{"another format", "version: \"2\"\n", `version "2"`},
		{"wrong type", "version: \"3\"\nresources: yes\n", "resources is true or false there: mend it"},
		{"a list", "[]", "it is a list, and is to be a mapping"},
		{"an empty resource", "version: \"3\"\nresources:\n-\n", "resource 1 of 1 is empty"},
		{"a resource without a version", "version: \"3\"\nresources:\n- kind: Kid\n", "resource 1 of 1 has no version"},
		{"a resource that leads elsewhere", "version: \"3\"\nresources:\n- {version: v1, kind: ../../Kid}\n", `has the kind "../../Kid"`},
		{"a resource twice", "version: \"3\"\nresources:\n- {group: g, domain: x.io, version: v1, kind: Kid}\n- {group: g, domain: x.io, version: v1, kind: Kid}\n", "g.x.io/v1 Kid is there twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse([]byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v does not say %q", err, tt.want)
			}
		})
	}
}

func TestTheLayoutMayBeASingleWord(t *testing.T) {
	p, err := Parse([]byte("version: \"3\"\nlayout: go.kubebuilder.io/v4\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{Layout}, p.Layout); diff != "" {
		t.Errorf("layout (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(kubebuilders)
	f.Add("version: \"3\"\n")
	f.Add("version: \"3\"\nlayout: go.kubebuilder.io/v4\nresources:\n-\n")
	f.Fuzz(func(t *testing.T, data string) {
		p, err := Parse([]byte(data))
		if err != nil {
			return
		}
		written, err := p.Marshal()
		if err != nil {
			t.Fatalf("Marshal: %v", err)
		}
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		rewritten, err := again.Marshal()
		if err != nil || string(rewritten) != string(written) {
			t.Errorf("written twice: %v\n%s\n%s", err, written, rewritten)
		}
	})
}
