package nodes

import (
	"net/netip"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestAddressesGoRoundBeforeOneIsUsedAgain(t *testing.T) {
	p := newPool(netip.MustParsePrefix("10.0.0.0/29")) // .0 network, .1 bridge, .7 broadcast: five are left
	take := func(pod types.UID, want string) {
		t.Helper()
		if got, _ := p.take(pod); got != want {
			t.Fatalf("pod %s got %q, want %q", pod, got, want)
		}
	}
	take("a", "10.0.0.2")
	p.drop("a")
	take("b", "10.0.0.3")
	p.claim("10.0.0.5", "old")
	take("c", "10.0.0.6")
	take("d", "10.0.0.2")
	take("e", "10.0.0.4")
	take("f", "")
	p.drop("b")
	take("f", "10.0.0.3")
	p.drop("nobody")
	take("g", "")
}

func TestClaimsOfOtherRangesAreIgnored(t *testing.T) {
	p := newPool(netip.MustParsePrefix("10.0.0.0/29"))
	for _, a := range []string{"", "10.1.0.3", "nonsense"} {
		p.claim(a, "a")
	}
	if len(p.owners)+len(p.held) != 0 {
		t.Errorf("owners %v, held %v", p.owners, p.held)
	}
}

func TestMachinesShareNoAddress(t *testing.T) {
	seen := map[string]bool{}
	var last netip.Prefix
	for i := range MaxCount {
		m := newMachine(i)
		if seen[m.hostIP] || last.IsValid() && last.Overlaps(m.podIPs) || !podRange.Overlaps(m.podIPs) {
			t.Fatalf("%s: host %s, pods %s", m.name, m.hostIP, m.podIPs)
		}
		seen[m.hostIP], last = true, m.podIPs
		if a := netip.MustParseAddr(m.hostIP); !hostRange.Contains(a) {
			t.Fatalf("%s: host %s is not in %s", m.name, a, hostRange)
		}
	}
	if got := newMachine(1).podIPs.String(); got != "10.128.32.0/19" {
		t.Errorf("second node has %s", got)
	}
}
