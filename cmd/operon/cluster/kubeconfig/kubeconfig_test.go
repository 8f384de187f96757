package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

var entry = Entry{Server: "https://127.0.0.1:6443", CACert: []byte("ca"), ClientCert: []byte("cert"), ClientKey: []byte("key")}

func TestWriteAndRemoveLeaveOthersAlone(t *testing.T) {
	path := file(t, `{"apiVersion":"v1","kind":"Config","current-context":"prod","clusters":[{"name":"prod","cluster":{"server":"https://prod"}}],
		"contexts":[{"name":"prod","context":{"cluster":"prod","user":"me"}}],"users":[{"name":"me","user":{"token":"secret"}}]}`)
	undo, err := Write(path, entry)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clientcmd.LoadFromFile(path)
	if err != nil || c.CurrentContext != Name || c.Clusters[Name].Server != entry.Server || c.Contexts["prod"] == nil {
		t.Fatalf("after Write: %+v, %v", c, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if err := undo.Remove(); err != nil {
		t.Fatal(err)
	}
	c, err = clientcmd.LoadFromFile(path)
	if err != nil || c.CurrentContext != "prod" || c.Clusters[Name] != nil || c.AuthInfos["me"].Token != "secret" {
		t.Errorf("after Remove: %+v, %v", c, err)
	}
}

func TestRemoveKeepsWhatWasAddedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	undo, err := Write(path, entry)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Contexts["theirs"] = c.Contexts[Name].DeepCopy()
	c.CurrentContext = "theirs"
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	if err := undo.Remove(); err != nil {
		t.Fatal(err)
	}
	c, err = clientcmd.LoadFromFile(path)
	if err != nil || c.CurrentContext != "theirs" || c.Contexts[Name] != nil {
		t.Errorf("after Remove: %+v, %v", c, err)
	}
}

func TestRemoveLeavesTheEntryOfTheClusterThatCameLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	first, err := Write(path, entry)
	if err != nil {
		t.Fatal(err)
	}
	later := entry
	later.Server, later.CACert = "https://127.0.0.1:6444", []byte("another ca")
	second, err := Write(path, later)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	c, err := clientcmd.LoadFromFile(path)
	if err != nil || c.CurrentContext != Name || c.Clusters[Name] == nil || c.Clusters[Name].Server != later.Server || c.AuthInfos[Name] == nil {
		t.Fatalf("after the first one's Remove: %+v, %v", c, err)
	}
	if err := second.Remove(); err != nil {
		t.Fatal(err)
	}
	c, err = clientcmd.LoadFromFile(path)
	if err != nil || c.CurrentContext != "" || c.Clusters[Name] != nil {
		t.Errorf("after the second one's Remove: %+v, %v", c, err)
	}
}

func TestCheckRefusesWhatItWouldDestroy(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"a cluster of that name elsewhere", `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"operon","cluster":{"server":"https://10.0.0.1"}}]}`, "https://10.0.0.1"},
		{"another kind of file", "hello: world\n", "not a kubeconfig"},
		{"no YAML at all", "\x00\x01", "not a kubeconfig"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Check(file(t, tt.content))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check: %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func TestCheckAcceptsAndLeavesNoTrace(t *testing.T) {
	for name, content := range map[string]string{
		"empty file":                "",
		"our own of an earlier run": `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"operon","cluster":{"server":"https://127.0.0.1:1"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, content)
			if err := Check(path); err != nil {
				t.Error(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != content {
				t.Errorf("the file changed: %q, %v", got, err)
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
				t.Errorf("left: %v", entries)
			}
		})
	}
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
