package cluster

import (
	"errors"
	"time"
)

// Stop ends the cluster and gives back its directory; a temporary cluster leaves nothing. It takes less than a second.
func (c *Cluster) Stop() error { return c.stop(false) }

func (c *Cluster) stop(discard bool) error {
	c.cancel()
	c.fail(errStopped)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if c.set != nil {
			c.set.Wait()
		}
		if c.waitSched != nil {
			c.waitSched()
		}
		c.running.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(stopTimeout):
		// What is left waits for answers that will not come; the store can be closed under it.
	}
	if c.api == nil {
		// A server that runs closes its listener, and takes it for a fault when somebody else does.
		c.listener.Close()
	}
	if c.store != nil {
		c.store.Stop()
	}
	var err error
	if c.kubeconfig != nil && c.dir.Temporary {
		err = c.kubeconfig.Remove()
	}
	if discard {
		return errors.Join(err, c.dir.Discard())
	}
	return errors.Join(err, c.dir.Close())
}

var errStopped = errors.New("the cluster was stopped")
