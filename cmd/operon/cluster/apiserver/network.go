package apiserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
)

// ErrNobodyThere is why a connection to a pod or a service fails.
var ErrNobodyThere = errors.New("pods are simulated, and nothing listens at the addresses of pods and services: what runs elsewhere, a webhook say, is reached by its url, or by a service of type ExternalName")

// closeNetworks makes connections of the transport to addresses in the networks fail at once with ErrNobodyThere. To the machine these are addresses
// like any, and packets sent there would be waited for in vain, or arrive at somebody else.
func closeNetworks(transport *http.Transport, networks []netip.Prefix) {
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		to, err := netip.ParseAddrPort(address)
		if err == nil && slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(to.Addr().Unmap()) }) {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(to), Err: ErrNobodyThere}
		}
		return dial(ctx, network, address)
	}
	// A proxy of the machine's environment does not know the cluster's addresses.
	transport.Proxy = nil
}

func prefixOf(n *net.IPNet) netip.Prefix {
	ip, _ := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(ip.Unmap(), bits)
}
