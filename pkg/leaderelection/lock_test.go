package leaderelection

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/operon-dev/operon/pkg/recorder"
)

type noEvents struct{ recorder.Provider }

func (noEvents) GetEventRecorderFor(string) record.EventRecorder { return &record.FakeRecorder{} }

func TestNewResourceLock(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options Options
		none    bool
		err     string
	}{
		{name: "not wanted", none: true},
		{name: "complete", options: Options{LeaderElection: true, LeaderElectionID: "frogs", LeaderElectionNamespace: "pond"}},
		{name: "no name", options: Options{LeaderElection: true, LeaderElectionNamespace: "pond"}, err: "set LeaderElectionID"},
		{name: "no namespace", options: Options{LeaderElection: true, LeaderElectionID: "frogs"}, err: "set LeaderElectionNamespace"},
		{name: "unknown kind", options: Options{LeaderElection: true, LeaderElectionID: "frogs", LeaderElectionNamespace: "pond", LeaderElectionResourceLock: "endpoints"}, err: "endpoints"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lock, err := NewResourceLock(&rest.Config{Host: "http://127.0.0.1:1"}, noEvents{}, tc.options)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error = %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil || (lock == nil) != tc.none {
				t.Fatalf("lock = %v, %v", lock, err)
			}
			if lock != nil && lock.Describe() != "pond/frogs" {
				t.Errorf("lock is %s", lock.Describe())
			}
		})
	}
}

func TestEveryLockHasItsOwnIdentity(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 3 {
		lock, err := NewResourceLock(&rest.Config{}, noEvents{}, Options{LeaderElection: true, LeaderElectionID: "a", LeaderElectionNamespace: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if id := lock.Identity(); seen[id] || !strings.HasPrefix(id, host+"_") {
			t.Errorf("identity %s", id)
		}
		seen[lock.Identity()] = true
	}
}

func TestThePodsNamespaceIsTheDefault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(file, []byte("pond"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ownNamespace(file); got != "pond" || err != nil {
		t.Errorf("ownNamespace = %q, %v", got, err)
	}
}
