package nodes

import (
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// pool hands out the pod addresses of one node, each to one pod at a time, going round the whole range before an address
// comes up again. It is safe for concurrent use.
type pool struct {
	mu     sync.Mutex
	prefix netip.Prefix
	last   netip.Addr
	owners map[netip.Addr]types.UID
	held   map[types.UID]netip.Addr
}

func newPool(prefix netip.Prefix) *pool {
	return &pool{prefix: prefix, last: first(prefix), owners: map[netip.Addr]types.UID{}, held: map[types.UID]netip.Addr{}}
}

// first is the address before the first one that is given out: the range's own address and the one that a bridge would have are not.
func first(prefix netip.Prefix) netip.Addr { return prefix.Addr().Next() }

// take gives an unused address to the pod, or says that there is none.
func (p *pool) take(pod types.UID) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for a := p.last.Next(); ; a = a.Next() {
		if !p.prefix.Contains(a) || !p.prefix.Contains(a.Next()) { // the last one is the broadcast address
			a = first(p.prefix)
		} else if _, used := p.owners[a]; !used {
			p.owners[a], p.held[pod] = pod, a
			p.last = a
			return a.String(), true
		}
		if a == p.last {
			return "", false
		}
	}
}

// claim records that the pod has the address.
func (p *pool) claim(address string, pod types.UID) {
	a, err := netip.ParseAddr(address)
	if err != nil || !p.prefix.Contains(a) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners[a], p.held[pod] = pod, a
	if p.last.Less(a) {
		p.last = a
	}
}

// drop takes back whatever address the pod has.
func (p *pool) drop(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, ok := p.held[pod]; ok {
		delete(p.held, pod)
		delete(p.owners, a)
	}
}
