package image

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/spf13/cobra"
)

// host is the platform that tests can run: only images of it are run, and compiling for others takes longer.
var host = "linux/" + runtime.GOARCH

const managerSource = `package main

import "os"

func main() { os.Stdout.WriteString("manager\n") }
`

// newProject writes a project with one small manager into a directory and makes it the working directory.
func newProject(t *testing.T) string {
	t.Helper()
	t.Setenv("GOWORK", "off")
	t.Setenv("SOURCE_DATE_EPOCH", "")
	// No credentials but those that a test makes.
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	dir := t.TempDir()
	for name, text := range map[string]string{
		"PROJECT":     "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: p\nrepo: example.com/p\nversion: \"3\"\n",
		"go.mod":      "module example.com/p\n\ngo 1.26\n",
		"cmd/main.go": managerSource,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

func operon(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	cmd := map[string]func() *cobra.Command{"build": NewBuildCommand, "push": NewPushCommand}[args[0]]()
	var out, progress strings.Builder
	cmd.SetArgs(args[1:])
	cmd.SetOut(&out)
	cmd.SetErr(&progress)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	if err != nil {
		t.Logf("operon %s: %v\n%s", strings.Join(args, " "), err, progress.String())
	}
	return out.String(), err
}

func mustOperon(t *testing.T, args ...string) string {
	t.Helper()
	out, err := operon(t, args...)
	if err != nil {
		t.Fatal("the command failed")
	}
	return out
}

func TestSameSourcesGiveTheSameDigestInEveryDirectory(t *testing.T) {
	var digests []string
	for range 2 {
		newProject(t)
		out := mustOperon(t, "build", "--image", "registry.example.com/proj:v1", "--platform", host)
		if !strings.HasPrefix(out, "registry.example.com/proj:v1@sha256:") {
			t.Errorf("build printed %q", out)
		}
		digests = append(digests, out)
	}
	if digests[0] != digests[1] {
		t.Errorf("two builds: %s and %s", digests[0], digests[1])
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	if dated := mustOperon(t, "build", "--image", "registry.example.com/proj:v1", "--platform", host); dated == digests[0] {
		t.Error("another date gave the same digest: the date is not in the image")
	}
}

func TestTheImageHoldsTheManagerAndNothingThatRunsBesides(t *testing.T) {
	dir := newProject(t)
	mustOperon(t, "build", "--platform", host+",linux/s390x")
	index, artifacts, _, err := load(filepath.Join(dir, "bin/image"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
	}
	if diff := cmp.Diff([]string{host, "linux/s390x"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
	if len(artifacts) != 2 {
		t.Errorf("%d bills of materials, want one for each platform", len(artifacts))
	}

	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/manager"}) {
		t.Errorf("runs %v as %q", config.Config.Entrypoint, config.Config.User)
	}
	files := extract(t, image)
	var names []string
	for name, f := range files {
		names = append(names, name)
		if f.mode&0o6222 != 0 || f.mode&0o111 != 0 && name != "manager" {
			t.Errorf("%s has mode %o", name, f.mode)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"etc/group", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "manager"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if n := strings.Count(string(files["etc/ssl/certs/ca-certificates.crt"].data), "BEGIN CERTIFICATE"); n < 50 {
		t.Errorf("%d certificates", n)
	}

	program := filepath.Join(t.TempDir(), "manager")
	if err := os.WriteFile(program, files["manager"].data, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program).Output(); err != nil || string(out) != "manager\n" {
		t.Errorf("the manager of the image printed %q, %v", out, err)
	}
}

type content struct {
	mode int64
	data []byte
}

func extract(t *testing.T, image v1.Image) map[string]content {
	t.Helper()
	files := map[string]content{}
	r := mutate.Extract(image)
	defer r.Close()
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			data, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			files[header.Name] = content{header.Mode, data}
		}
	}
}

func TestPushSendsTheImageAndItsBillOfMaterials(t *testing.T) {
	newProject(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")

	built := mustOperon(t, "build", "--image", address+"/proj:v1", "--platform", host)
	pushed := mustOperon(t, "push")
	_, digest, _ := strings.Cut(built, "@")
	if pushed != address+"/proj@"+digest {
		t.Errorf("pushed %q, built %q", pushed, built)
	}
	if again := mustOperon(t, "push", "--image", address+"/other:v2"); again != address+"/other@"+digest {
		t.Errorf("pushed under another name as %q", again)
	}

	index, err := remote.Index(reference(t, address+"/proj:v1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	referrers, err := remote.Referrers(reference(t, address+"/proj").Context().Digest(manifest.Manifests[0].Digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	list, err := referrers.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Manifests) != 1 || list.Manifests[0].ArtifactType != string(sbomType) {
		t.Fatalf("what refers to the image: %+v", list.Manifests)
	}
	artifact, err := remote.Image(reference(t, address+"/proj").Context().Digest(list.Manifests[0].Digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	layers, err := artifact.Layers()
	if err != nil {
		t.Fatal(err)
	}
	data, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat  string
		Components []struct{ PURL string }
	}
	if err := json.NewDecoder(data).Decode(&bom); err != nil || bom.BOMFormat != "CycloneDX" || len(bom.Components) != 1 || !strings.HasPrefix(bom.Components[0].PURL, "pkg:golang/std@1.") {
		t.Errorf("bill of materials %+v, %v", bom, err)
	}
}

func reference(t *testing.T, text string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestTarballIsForDockerLoad(t *testing.T) {
	newProject(t)
	mustOperon(t, "build", "--image", "proj:dev", "--platform", host, "--tarball", "p.tar")
	tag, err := name.NewTag("proj:dev")
	if err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath("p.tar", &tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(image); err != nil {
		t.Error(err)
	}
}

func TestAnImageCanBeBuiltOnAnother(t *testing.T) {
	newProject(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	mustOperon(t, "build", "--image", address+"/base:v1", "--platform", host, "--label", "base=kept", "--label", "both=base", "--push")
	mustOperon(t, "build", "--base", address+"/base:v1", "--platform", host, "--label", "both=own")
	index, _, _, err := load("bin/image")
	if err != nil {
		t.Fatal(err)
	}
	manifest, _ := index.IndexManifest()
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if layers, err := image.Layers(); err != nil || len(layers) != 3 {
		t.Errorf("%d layers, %v; want the base's two and the manager's", len(layers), err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"base": "kept", "both": "own"}, config.Config.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestAScriptGetsNamesAndDigests(t *testing.T) {
	newProject(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	image := strings.TrimPrefix(server.URL, "http://") + "/proj:v1"
	read := func(args ...string) (r Report) {
		if err := json.Unmarshal([]byte(mustOperon(t, args...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	built := read("build", "--image", image, "--platform", host, "--tarball", "p.tar", "-o", "json")
	layout, err := filepath.Abs("bin/image")
	if err != nil {
		t.Fatal(err)
	}
	index, _, _, err := load(layout)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	want := Report{
		Image: image, Reference: strings.TrimSuffix(image, ":v1") + "@" + digest.String(), Digest: digest.String(),
		Platforms: map[string]string{host: manifest.Manifests[0].Digest.String()}, Layout: layout, Tarball: "p.tar",
	}
	if diff := cmp.Diff(want, built); diff != "" {
		t.Errorf("build (-want +got):\n%s", diff)
	}
	want.Tarball, want.Pushed = "", true
	if diff := cmp.Diff(want, read("push", "-o", "json")); diff != "" {
		t.Errorf("push (-want +got):\n%s", diff)
	}
}

func TestWrongInputIsOneSentenceAndLeavesWhatWasThere(t *testing.T) {
	outside := t.TempDir()
	dir := newProject(t)
	mustOperon(t, "build", "--platform", host)
	before, err := layout.ImageIndexFromPath("bin/image")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := before.Digest()
	if err := os.MkdirAll("precious/data", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.WriteFile("cmd/main.go", []byte("package main\n\nfunc main() { undefined() }\n"), 0o666),
		os.Mkdir("api", 0o777),
		os.WriteFile("api/api.go", []byte("package v1\n"), 0o666),
	); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(nil)
	server.Close()
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/" {
			w.WriteHeader(http.StatusInsufficientStorage)
		}
	}))
	t.Cleanup(full.Close)
	if err := os.MkdirAll("broken", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"oci-layout": `{"imageLayoutVersion":"1.0.0"}`, "index.json": "{"} {
		if err := os.WriteFile(filepath.Join("broken", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		dir  string
		args []string
		want string
	}{
		{outside, []string{"build"}, "PROJECT"},
		{outside, []string{"push"}, "PROJECT"},
		{outside, []string{"push", "--layout", "."}, "operon build makes it"},
		{dir, []string{"build"}, "does not compile"},
		// Refused before anything is compiled, which would be refused as well.
		{dir, []string{"build", "--platform", host, "--tarball", "no/such/x.tar"}, "make its directory"},
		{dir, []string{"build", "--platform", host, "--tarball", "cmd"}, "it is a directory"},
		{dir, []string{"build", "--platform", host, "--layout", "go.mod/image"}, "name another directory with --layout"},
		{dir, []string{"build", "-o", "yaml"}, "text or json"},
		{dir, []string{"push", "-o", "yaml"}, "text or json"},
		{dir, []string{"build", "--image", "No Such:Name"}, "write it like"},
		{dir, []string{"build", "--platform", "linux"}, "for example linux/amd64"},
		{dir, []string{"build", "--platform", "windows/amd64"}, "for linux only"},
		{dir, []string{"build", "--platform", "linux/amd64,linux/amd64"}, "twice"},
		{dir, []string{"build", "--platform", host + ",linux/abacus"}, "go tool dist list"},
		{dir, []string{"build", "--platform", "linux/amd64/v9"}, "or take one of v1, v2, v3, v4"},
		{dir, []string{"build", "--platform", "linux/386/v1"}, "leave it out"},
		{dir, []string{"build", "--platform", "linux/amd64:1.0"}, "no version of its system"},
		{dir, []string{"build", "--layout", "precious"}, "holds something"},
		{dir, []string{"build", "--tarball", "x.tar"}, "choose it with --platform"},
		{dir, []string{"build", "--package", "./none"}, "does not compile"},
		{dir, []string{"build", "--package", "./api"}, "./api is package v1, which is not a program"},
		{dir, []string{"build", "--package", "./..."}, "name the one that is the program"},
		// Before it is found that nothing compiles.
		{dir, []string{"build", "--platform", host, "--base", strings.TrimPrefix(server.URL, "http://") + "/base"}, "see that --base names one"},
		{dir, []string{"build", "now"}, `"now" is not one`},
		{dir, []string{"push", "--image", strings.TrimPrefix(server.URL, "http://") + "/proj"}, "does not answer"},
		{dir, []string{"push", "--image", strings.TrimPrefix(full.URL, "http://") + "/proj"}, "refuses the image"},
		{dir, []string{"push", "--layout", "broken"}, "operon build makes it anew"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Chdir(test.dir)
			out, err := operon(t, test.args...)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line with %q", err, test.want)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
		})
	}
	after, err := layout.ImageIndexFromPath(filepath.Join(dir, "bin/image"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := after.Digest(); got != want {
		t.Error("a failed build changed the layout")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "bin", ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCredentialsThatCannotBeReadAreNotTheRegistrysFault(t *testing.T) {
	dir := newProject(t)
	mustOperon(t, "build", "--platform", host)
	for name, config := range map[string]string{
		"no JSON":       `{"auths":`,
		"helper absent": `{"credHelpers":{"localhost:1":"that-nobody-installed"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(dir)
			settings := t.TempDir()
			t.Setenv("DOCKER_CONFIG", settings)
			if err := os.WriteFile(filepath.Join(settings, "config.json"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"push", "--image", "localhost:1/proj"}, {"build", "--platform", host, "--base", "localhost:1/base"}} {
				if _, err := operon(t, args...); err == nil || !strings.Contains(err.Error(), "the credentials for localhost:1 cannot be read: mend") {
					t.Errorf("%v: error %q", args, err)
				}
			}
		})
	}
}

func FuzzParsePlatforms(f *testing.F) {
	for _, seed := range []string{"linux/amd64", "linux/arm/v7,linux/arm64/v8", "linux/", "/", ",", "linux/amd64:10.0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		platforms, err := ParsePlatforms(list)
		if err != nil {
			return
		}
		for _, p := range platforms {
			if p.OS != "linux" || p.Architecture == "" {
				t.Errorf("%q gave %+v", list, p)
			}
		}
	})
}
