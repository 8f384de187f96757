package setupenvtest

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/kubeversion"
)

var platform = runtime.GOOS + "/" + runtime.GOARCH

// run runs the command as a Makefile would.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := NewCommand("v9.9.9")
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(args)
	err = cmd.Execute()
	return out.String(), errs.String(), err
}

// clean lets the test's own environment be the only one.
func clean(t *testing.T) (binDir, own string) {
	t.Helper()
	for _, name := range []string{envAssets, envInstalledOnly, envUseEnv} {
		t.Setenv(name, "")
	}
	binDir = t.TempDir()
	return binDir, filepath.Join(binDir, "k8s", strings.TrimPrefix(kubeversion.Version, "v")+"-"+runtime.GOOS+"-"+runtime.GOARCH)
}

// download puts a version into the store as setup-envtest leaves it: files that may only be read, in a directory that may not be written.
func download(t *testing.T, binDir, name string) string {
	t.Helper()
	dir := filepath.Join(binDir, "k8s", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		if err := os.WriteFile(filepath.Join(dir, program), []byte("downloaded"), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	return dir
}

func TestUsePrintsWhereTheProgramsAre(t *testing.T) {
	binDir, own := clean(t)
	for _, tc := range []struct {
		print, want string
	}{
		{"path", own},
		{"env", "export KUBEBUILDER_ASSETS='" + own + "'\n"},
		{"overview", "Version: " + strings.TrimPrefix(kubeversion.Version, "v") + "\nOS/Arch: " + platform + "\nPath: " + own + "\n"},
	} {
		out, errs, err := run(t, "use", "--bin-dir", binDir, "-p", tc.print)
		if err != nil || errs != "" || out != tc.want {
			t.Errorf("-p %s: %q, %q, %v; want %q", tc.print, out, errs, err, tc.want)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{ownName}, programs...) {
		got, err := os.Stat(filepath.Join(own, name))
		if err != nil || got.Size() != want.Size() || got.Mode()&0o111 == 0 {
			t.Errorf("%s is %v, %v, not this binary", name, got, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(binDir, "k8s", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestUseChoosesAVersion(t *testing.T) {
	binDir, own := clean(t)
	old := download(t, binDir, "1.30.2-"+runtime.GOOS+"-"+runtime.GOARCH)
	download(t, binDir, "1.30.1-"+runtime.GOOS+"-"+runtime.GOARCH)
	other := download(t, binDir, "1.30.1-plan9-mips")
	for _, tc := range []struct {
		args string
		want string
		// note is what standard error says.
		note string
	}{
		{args: "", want: own},
		{args: "latest", want: own},
		{args: "1.37", want: own},
		{args: "1.37.x!", want: own},
		{args: "v1.37.1 -i", want: own},
		{args: "1.30", want: old},
		{args: "1.30.x", want: old},
		{args: "~1.30.1", want: old},
		{args: "<1.31", want: old},
		{args: "1.33.0", want: own, note: "Kubernetes 1.33.0 was asked for"},
		{args: "<1.20", want: own, note: "<1.20"},
		{args: "1.30 --os plan9 --arch mips", want: other},
	} {
		args := append([]string{"use", "--bin-dir", binDir, "-p", "path"}, strings.Fields(tc.args)...)
		out, errs, err := run(t, args...)
		if err != nil || out != tc.want || (tc.note == "") != (errs == "") || !strings.Contains(errs, tc.note) {
			t.Errorf("use %s: %q, %q, %v; want %q, %q", tc.args, out, errs, err, tc.want, tc.note)
		}
	}
}

func TestUseMakesWhatIsMissingAndLeavesWhatIsThere(t *testing.T) {
	binDir, own := clean(t)
	use := func(args ...string) {
		t.Helper()
		if _, _, err := run(t, append([]string{"use", "--bin-dir", binDir}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	use()
	mark := filepath.Join(own, "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	use()
	if _, err := os.Stat(mark); err != nil {
		t.Error("a directory that was complete was made anew")
	}
	for name, spoil := range map[string]func() error{
		"a program is missing":      func() error { return os.Remove(filepath.Join(own, "etcd")) },
		"the binary is another one": func() error { return replace(filepath.Join(own, ownName)) },
	} {
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		use()
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: the directory was left as it was", name)
		}
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	use("--force")
	if _, err := os.Stat(mark); err == nil {
		t.Error("--force left the directory as it was")
	}
	downloaded := download(t, t.TempDir(), filepath.Base(own))
	if _, _, err := run(t, "use", "--bin-dir", filepath.Dir(filepath.Dir(downloaded))); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(filepath.Join(downloaded, "etcd")); err != nil || string(content) != "downloaded" {
		t.Errorf("what was downloaded is %.20q, %v", content, err)
	}
}

func replace(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte("another"), 0o755)
}

func TestTheEnvironmentIsPrintedWhenAskedFor(t *testing.T) {
	binDir, _ := clean(t)
	t.Setenv(envAssets, "/it's/here")
	for args, want := range map[string]string{
		"use --use-env -p path": "/it's/here",
		"--use-env -p path":     "/it's/here",
		"use --use-env -p env":  `export KUBEBUILDER_ASSETS='/it'"'"'s/here'` + "\n",
		"use --use-env":         "OS/Arch: " + platform + "\nPath: /it's/here\n",
	} {
		if out, _, err := run(t, append(strings.Fields(args), "--bin-dir", binDir)...); err != nil || out != want {
			t.Errorf("%s: %q, %v; want %q", args, out, err, want)
		}
	}
	if entries, err := os.ReadDir(binDir); err != nil || len(entries) > 0 {
		t.Errorf("something was made: %v, %v", entries, err)
	}
}

func TestListAndCleanup(t *testing.T) {
	binDir, own := clean(t)
	here := "  " + platform + "\n"
	expect := func(args, want string) {
		t.Helper()
		if out, _, err := run(t, append(strings.Fields(args), "--bin-dir", binDir)...); err != nil || out != want {
			t.Errorf("%s: %q, %v; want %q", args, out, err, want)
		}
	}
	expect("list", "(available)  "+kubeversion.Version+here)
	expect("list -i", "")
	download(t, binDir, "1.30.1-"+runtime.GOOS+"-"+runtime.GOARCH)
	download(t, binDir, "1.29.4-plan9-mips")
	if _, _, err := run(t, "use", "--bin-dir", binDir); err != nil {
		t.Fatal(err)
	}
	expect("list", "(installed)  "+kubeversion.Version+here+"(installed)  v1.30.1"+here)
	expect("list -i <1.31 --os * --arch *", "(installed)  v1.30.1"+here+"(installed)  v1.29.4  plan9/mips\n")
	expect("cleanup <1.31", "removed 1.30.1 ("+platform+")\n")
	expect("cleanup", "removed "+strings.TrimPrefix(kubeversion.Version, "v")+" ("+platform+")\n")
	if _, err := os.Stat(own); err == nil {
		t.Error("what was removed is there")
	}
	expect("version", "setup-envtest version: v9.9.9\n")
}

func TestBadInputIsOneSentenceWithAWayOut(t *testing.T) {
	binDir, _ := clean(t)
	file := filepath.Join(binDir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"use abc":                           `"abc" is not a version: give`,
		"use 1":                             `"1" is not a version: give`,
		"use 1.30 1.31":                     `"1.31" is another: leave it out`,
		"use -p json":                       "--print \"json\" is not one of",
		"use --os plan9":                    "not for plan9/" + runtime.GOARCH + ": leave out --os",
		"list abc":                          "not a version",
		"cleanup abc":                       "not a version",
		"download":                          `"download" is not a command of setup-envtest: use,`,
		"sideload 1.30":                     "unpack yours and set KUBEBUILDER_ASSETS",
		"use --bin-dir " + file + " -p env": "choose another --bin-dir",
	} {
		all := strings.Fields(args)
		if !strings.Contains(args, "--bin-dir") {
			all = append(all, "--bin-dir", binDir)
		}
		out, _, err := run(t, all...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || out != "" {
			t.Errorf("%s: %q, %v; want %q", args, out, err, want)
		}
	}
}

func FuzzSelector(f *testing.F) {
	for _, text := range []string{"", "1.2.3", "~1.2.3!", "<=1.2", "1.x", "99999999999999999999.1.0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSelector(text)
		if err == nil {
			s.has(number{1, 37, 1})
		}
	})
}
