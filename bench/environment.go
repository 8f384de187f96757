package main

import (
	"time"

	"github.com/operon-dev/operon/pkg/envtest"
	"k8s.io/client-go/rest"
)

// environment is what the groups of a run share.
type environment struct {
	quick bool
	until time.Time // when the group that is measured should be done

	plane *envtest.Environment // nil until a group asks for it
	cfg   *rest.Config
}

// number returns how many there are of something in a run of this kind.
func (e *environment) number(full, quick int) int {
	if e.quick {
		return quick
	}
	return full
}

// plan returns so many rounds, in the time that the group has left.
func (e *environment) plan(full, quick int) plan {
	return plan{planned: e.number(full, quick), until: e.until}
}

// startLimit bounds the start of a control plane. The default of both libraries is less than the peer's takes on a busy machine.
const startLimit = 2 * time.Minute

// config returns the way to the run's control plane, without a rate limit. The
// first call starts it. Each group works on objects, or in a namespace, of its own.
func (e *environment) config() (*rest.Config, error) {
	if e.plane == nil {
		plane := &envtest.Environment{ControlPlaneStartTimeout: startLimit}
		cfg, err := plane.Start()
		if err != nil {
			return nil, err
		}
		e.plane, e.cfg = plane, rest.CopyConfig(cfg)
		e.cfg.QPS = -1
	}
	return rest.CopyConfig(e.cfg), nil
}

// kubeconfig returns the content of a kubeconfig file for the run's control plane.
func (e *environment) kubeconfig() ([]byte, error) {
	_, err := e.config()
	if err != nil {
		return nil, err
	}
	return e.plane.KubeConfig, nil
}

func (e *environment) close() error {
	if e.plane == nil {
		return nil
	}
	return e.plane.Stop()
}
