package devloop

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAFreePortIsUsedAndATakenOneIsNot(t *testing.T) {
	free, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	taken := listener.Addr().(*net.TCPAddr).Port

	var one, other ports
	t.Cleanup(func() {
		if err := errors.Join(one.close(), other.close()); err != nil {
			t.Error(err)
		}
	})
	if port, err := one.instead(free); err != nil || port != free {
		t.Errorf("for %d, which is free: %d, %v", free, port, err)
	}
	// Nobody listens there yet, and still it is the first one's.
	if port, err := other.instead(free); err != nil || port == free {
		t.Errorf("for %d, which another loop has: %d, %v", free, port, err)
	}
	first, err := other.instead(taken)
	if err != nil || first == taken {
		t.Errorf("for %d, where somebody listens: %d, %v", taken, first, err)
	}
	if again, err := other.instead(taken); err != nil || again != first {
		t.Errorf("asked again: %d, %v, want %d", again, err, first)
	}
	if err := one.close(); err != nil {
		t.Fatal(err)
	}
	var third ports
	t.Cleanup(func() { third.close() })
	if port, err := third.instead(free); err != nil || port != free {
		t.Errorf("for %d, which was given up: %d, %v", free, port, err)
	}
}

func TestArgumentsNameFreeAddressesInPlaceOfTakenDefaults(t *testing.T) {
	var l [2]net.Listener
	var taken [2]int
	for i := range l {
		var err error
		if l[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l[i].Close() })
		taken[i] = l[i].Addr().(*net.TCPAddr).Port
	}
	free, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "main.go", fmt.Sprintf(`package main

import "flag"

func main() {
	var metrics string
	flag.StringVar(&metrics, "metrics-bind-address", ":%d", "metrics")
	_ = flag.String("health-probe-bind-address", ":%d", "probes")
	_ = flag.String("metrics-addr", "0", "none of them")
	_ = flag.String("redis-address", ":%d", "whatever listens there is to be found")
}
`, taken[0], free, taken[1]))
	write(t, dir, "broken.go", "package\n")
	write(t, dir, "main_test.go", fmt.Sprintf("package main\n\nvar _ = f(\"metrics-addr\", \":%d\")\n", taken[1]))

	defaults, err := addresses(dir)
	if diff := cmp.Diff(map[string]int{"metrics-bind-address": taken[0], "health-probe-bind-address": free}, defaults); err != nil || diff != "" {
		t.Errorf("addresses: %v (-want +got)\n%s", err, diff)
	}
	var p ports
	t.Cleanup(func() { p.close() })
	more, said, err := p.arguments(dir, []string{"--other=1"})
	if err != nil {
		t.Fatal(err)
	}
	flag := fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", p.given[taken[0]])
	if diff := cmp.Diff([]string{flag}, more); diff != "" || p.given[taken[0]] == taken[0] {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{fmt.Sprintf("port %d is in use: the manager gets %s", taken[0], flag)}, said); diff != "" {
		t.Errorf("sentences (-want +got):\n%s", diff)
	}
	if again, said, err := p.arguments(dir, nil); err != nil || len(said) > 0 || !cmp.Equal(again, more) {
		t.Errorf("asked again: %v %v %v", again, said, err)
	}
	for _, theirs := range []string{"--metrics-bind-address=:1", "-metrics-bind-address"} {
		if more, said, err := p.arguments(dir, []string{theirs}); err != nil || more != nil || said != nil {
			t.Errorf("beside a person's %s: %v %v %v", theirs, more, said, err)
		}
	}
}

func TestOneLoopAtATimeWorksInAProject(t *testing.T) {
	root := t.TempDir()
	held, err := reserve(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { held.Close() })
	want := "another operon run is at work in " + root + ": end it first, or let it follow what you save"
	if err := Run(t.Context(), Options{Root: root}); err == nil || err.Error() != want {
		t.Errorf("a second loop: %v, want %q", err, want)
	}
}
