package process

import (
	"net"
	"net/url"
)

// ListenAddr is where a program listens: an address or host name, and a port.
type ListenAddr struct {
	Address string
	Port    string
}

// URL is the address as a URL with the scheme and path.
func (l *ListenAddr) URL(scheme string, path string) *url.URL {
	return &url.URL{Scheme: scheme, Host: l.HostPort(), Path: path}
}

// HostPort joins the address and the port.
func (l *ListenAddr) HostPort() string { return net.JoinHostPort(l.Address, l.Port) }

// Complete fills in what is missing: 127.0.0.1, and a port that is free at the moment.
func (l *ListenAddr) Complete() error {
	if l.Address == "" {
		l.Address = "127.0.0.1"
	}
	if l.Port != "" && l.Port != "0" {
		return nil
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(l.Address, "0"))
	if err != nil {
		return err
	}
	_, l.Port, err = net.SplitHostPort(listener.Addr().String())
	if closed := listener.Close(); err == nil {
		err = closed
	}
	return err
}
