package nodes

import (
	"context"
	"errors"
	"net"
)

// ErrNoKubelet is why nobody can connect to a simulated node.
var ErrNoKubelet = errors.New("simulated nodes run no programs: there is nothing to log, to execute or to connect to")

// Refuse is a dialer for the API server's connections to kubelets. It answers ErrNoKubelet at once, where an address that leads nowhere would let
// kubectl logs wait for half a minute.
func Refuse(ctx context.Context, network, address string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: network, Err: ErrNoKubelet}
}
