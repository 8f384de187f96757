package controlplane

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// executable puts a program into the directory.
func executable(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// nowhere hides what the machine has.
func nowhere(t *testing.T) {
	t.Helper()
	for _, name := range []string{envOperon, envAssets, envAssetPrefix + "ETCD", envAssetPrefix + "KUBE_APISERVER", envAssetPrefix + "KUBECTL"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", t.TempDir())
}

func TestProgramsAreFoundInThisOrder(t *testing.T) {
	nowhere(t)
	dirs := map[string]string{}
	for _, name := range []string{"path", "variable", "assets", "directory", "operon", "PATH"} {
		dirs[name] = t.TempDir()
	}
	expect := func(name, given, dir, want string, operon bool) {
		t.Helper()
		got, err := findProgram(name, given, dir)
		if err != nil || got.path != want || got.name != name || got.operon != operon {
			t.Errorf("%s = %+v, %v; want %s", name, got, err, want)
		}
	}
	t.Setenv("PATH", dirs["PATH"])
	expect("kube-apiserver", "", "", executable(t, dirs["PATH"], "operon"), true)
	t.Setenv(envOperon, executable(t, dirs["operon"], "mine"))
	expect("kube-apiserver", "", "", filepath.Join(dirs["operon"], "mine"), true)
	expect("kube-apiserver", "", dirs["directory"], filepath.Join(dirs["operon"], "mine"), true)
	server := executable(t, dirs["directory"], "kube-apiserver")
	expect("kube-apiserver", "", dirs["directory"], server, false)
	t.Setenv(envAssets, dirs["assets"])
	if _, err := findProgram("kube-apiserver", "", dirs["directory"]); err == nil || !strings.Contains(err.Error(), envAssets+" says it is there") {
		t.Errorf("error = %v", err)
	}
	server = executable(t, dirs["assets"], "kube-apiserver")
	expect("kube-apiserver", "", dirs["directory"], server, false)
	t.Setenv(envAssetPrefix+"KUBE_APISERVER", executable(t, dirs["variable"], "anything"))
	expect("kube-apiserver", "", dirs["directory"], filepath.Join(dirs["variable"], "anything"), false)
	expect("kube-apiserver", executable(t, dirs["path"], "x"), dirs["directory"], filepath.Join(dirs["path"], "x"), false)
}

func TestADirectoryOfSetupEnvtestIsTheOperonCommand(t *testing.T) {
	nowhere(t)
	dir := t.TempDir()
	executable(t, dir, "kube-apiserver")
	t.Setenv(envAssets, dir)
	if named := programsNamed(""); named != envAssets {
		t.Errorf("programs are named by %q", named)
	}
	own := executable(t, dir, "operon")
	if named := programsNamed(""); named != "" {
		t.Errorf("with operon there, programs are named by %q", named)
	}
	if found, err := findOperon(""); err != nil || found != own {
		t.Errorf("operon = %s, %v", found, err)
	}
	t.Setenv(envAssets, "")
	if named := programsNamed(dir); named != "" {
		t.Errorf("programs are named by %q", named)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if named := programsNamed(dir); named != "BinaryAssetsDirectory" {
		t.Errorf("programs are named by %q", named)
	}
	if named := programsNamed(t.TempDir()); named != "" {
		t.Errorf("an empty directory names programs: %q", named)
	}
}

func TestTheCommandIsBuiltOnceForEachState(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	// The standard library need not be compiled again.
	gocache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(gocache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GOWORK", "off")
	root := t.TempDir()
	source := filepath.Join(root, "cmd", "operon")
	if err := os.MkdirAll(source, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(source, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/operon\n\ngo 1.26\n")
	write("main.go", "package main\n\nfunc main() {}\n")
	path, err := build(source)
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write("main_test.go", "package main\n")
	if again, err := build(source); err != nil || again != path {
		t.Fatalf("%s, %v", again, err)
	}
	if second, err := os.Stat(path); err != nil || !os.SameFile(first, second) {
		t.Errorf("it was built twice, %v", err)
	}
	write("main.go", "package main\n\nfunc main() { println(1) }\n")
	if _, err := build(source); err != nil {
		t.Fatal(err)
	}
	if third, err := os.Stat(path); err != nil || os.SameFile(first, third) {
		t.Errorf("it was not built again, %v", err)
	}
	write("main.go", "package main\n\nfunc main() { nonsense }\n")
	if _, err := build(source); err == nil || !strings.Contains(err.Error(), "make build") || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("error = %v", err)
	}
}

func TestBuildKeepsTheUsersFlagsThatSuitIt(t *testing.T) {
	const compilerFlags = "'-gcflags=all=-l -dwarf=false' -gcflags=std="
	for given, want := range map[string]string{
		"":                                  compilerFlags,
		"-v":                                "-v " + compilerFlags,
		"-mod=mod  -trimpath":               "-trimpath " + compilerFlags,
		"--modfile=other.mod -race":         compilerFlags,
		"'-gcflags=all=-l -dwarf=false'":    "'-gcflags=all=-l -dwarf=false'",
		`"-tags=a b" -mod=vendor -gcflags=`: `"-tags=a b" -gcflags=`,
		"'-ldflags=unfinished -x":           "'-ldflags=unfinished -x " + compilerFlags,
	} {
		if got := buildFlags(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestWithoutACheckoutTheWayOutIsSaid(t *testing.T) {
	nowhere(t)
	t.Chdir(t.TempDir())
	_, err := findOperon("")
	if err == nil || !strings.Contains(err.Error(), "make build") || !strings.Contains(err.Error(), "export OPERON=") {
		t.Errorf("error = %v", err)
	}
}
