package main

import (
	"github.com/operon-dev/operon/pkg/envtest"
	"k8s.io/client-go/rest"
)

// environment is what the groups of a run share.
type environment struct {
	quick bool

	plane *envtest.Environment // nil until a group asks for it
	cfg   *rest.Config
}

// rounds returns how often each contender runs.
func (e *environment) rounds(full, quick int) int {
	if e.quick {
		return quick
	}
	return full
}

// config returns the way to the run's control plane, without a rate limit. The
// first call starts it. Each group works on objects, or in a namespace, of its own.
func (e *environment) config() (*rest.Config, error) {
	if e.plane == nil {
		plane := &envtest.Environment{}
		cfg, err := plane.Start()
		if err != nil {
			return nil, err
		}
		e.plane, e.cfg = plane, rest.CopyConfig(cfg)
		e.cfg.QPS = -1
	}
	return rest.CopyConfig(e.cfg), nil
}

func (e *environment) close() error {
	if e.plane == nil {
		return nil
	}
	return e.plane.Stop()
}
