package cluster

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// listen takes the port that was asked for, or else the remembered one if it is free, or else any free one.
func listen(asked, remembered int) (net.Listener, error) {
	if asked == 0 && remembered != 0 {
		if l, err := listenOn(remembered); err == nil {
			return l, nil
		}
	}
	l, err := listenOn(asked)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is in use: stop what listens there, choose another --port, or leave it out for a free one", asked)
	}
	if errors.Is(err, syscall.EACCES) {
		return nil, fmt.Errorf("port %d may not be used by you: choose a --port above 1023, or leave it out for a free one", asked)
	}
	if err != nil {
		return nil, fmt.Errorf("no port on 127.0.0.1: %w", err)
	}
	return l, nil
}

func listenOn(port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}
