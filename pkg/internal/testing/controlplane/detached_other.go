//go:build !unix

package controlplane

import "errors"

type detached struct{}

func startDetached(string, []string, string) (*detached, error) {
	return nil, errors.New("control planes are shared on Unix systems only: leave out Shared")
}

func (d *detached) wait() bool { return true }

func (d *detached) close() {}
