package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

// demo is one showing.
type demo struct {
	operon, manager string // absolute paths of the two programs
	keep            bool
	pause           time.Duration
	screen          screen

	dir      string // holds the kubeconfig and the operator's log
	cluster  *child
	operator *child
	world    *world
	sample   *cachev1alpha1.Memcached
}

func (d *demo) kubeconfig() string  { return filepath.Join(d.dir, "kubeconfig") }
func (d *demo) operatorLog() string { return filepath.Join(d.dir, "operator.log") }

func (d *demo) run(ctx context.Context) (err error) {
	began := time.Now()
	if d.sample, err = readSample(); err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "operon-demo-"); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, d.stop())
		if err == nil {
			d.screen.say(fmt.Sprintf("Stopped; nothing is left behind. %s in all.", seconds(time.Since(began))))
		}
	}()

	for _, act := range []func(context.Context) error{
		d.startCluster, d.installCRD, d.startOperator,
		d.create, d.scaleUp, d.scaleDown, d.deletePod, d.deleteService,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	if d.keep {
		return d.stayUp(ctx)
	}
	return d.deleteMemcached(ctx)
}

// stop ends what was started, in the reverse order, and removes the files.
func (d *demo) stop() error {
	d.screen.close()
	if d.world != nil {
		d.world.stop()
	}
	if d.operator != nil {
		d.operator.stop()
	}
	if d.cluster != nil {
		d.cluster.stop()
	}
	return os.RemoveAll(d.dir)
}

// step is something that is done, and what must be seen afterwards, both within the limit.
type step struct {
	title   string
	command string // that would do the same by hand
	limit   time.Duration
	do      func(context.Context) error
	missing expectation // nil when do is all there is to it
}

// expectation says in a clause what is not yet as it should be, and nothing once it is.
type expectation func(snapshot) string

func (d *demo) perform(ctx context.Context, s step) error {
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	began := time.Now()
	d.screen.begin(s.title, s.command)
	err := s.do(limited)
	if err == nil && s.missing != nil {
		err = d.await(limited, s.missing)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return d.failure(s, limited.Err() != nil, err)
	}
	d.screen.done(time.Since(began))
	return d.rest(ctx)
}

// await shows every change until nothing is missing.
func (d *demo) await(ctx context.Context, missing expectation) error {
	clock := time.NewTicker(time.Second) // for the time that is shown; what is waited for comes as an event
	defer clock.Stop()
	for {
		now, err := d.world.look(ctx)
		if err != nil {
			return err
		}
		d.screen.show(now)
		what := missing(now)
		if what == "" {
			return nil
		}
		select {
		case <-d.world.changed:
		case <-clock.C:
		case <-d.operator.ended:
			return d.operator.endedEarly()
		case <-d.cluster.ended:
			return d.cluster.endedEarly()
		case <-ctx.Done():
			return errors.New(what)
		}
	}
}

// rest leaves a person the time to look at what was reached, and goes on showing changes.
func (d *demo) rest(ctx context.Context) error {
	if d.pause == 0 || d.world == nil {
		return nil
	}
	over := time.NewTimer(d.pause)
	defer over.Stop()
	for {
		select {
		case <-d.world.changed:
			if now, err := d.world.look(ctx); err == nil {
				d.screen.show(now)
			}
		case <-over.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// failure says what did not happen, what was seen last, and what the operator said about it.
func (d *demo) failure(s step, late bool, err error) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%q did not succeed", s.title)
	if late {
		fmt.Fprintf(&b, " within %s", s.limit)
	}
	fmt.Fprintf(&b, ": %v.", err)
	if d.world != nil {
		if now, err := d.world.look(context.Background()); err == nil {
			fmt.Fprintf(&b, " Seen last: %s.", strings.Join(now.describe(), "; "))
		}
	}
	for _, c := range []*child{d.operator, d.cluster} {
		if c == nil {
			continue
		}
		if last := c.lastLines(); last != "" {
			fmt.Fprintf(&b, "\nThe last lines of the %s's log:\n%s", c.name, last)
		}
		break // the cluster's log matters only where there is no operator yet
	}
	return errors.New(b.String())
}

// stayUp tells how to look around, and returns nil once the user has had enough.
func (d *demo) stayUp(ctx context.Context) error {
	d.screen.close()
	operon := d.operon
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, operon); err == nil && filepath.IsLocal(rel) {
			operon = rel
		}
	}
	kubectl, name := operon+" kubectl", d.sample.Name
	d.screen.say(strings.Join([]string{
		"The cluster and the operator stay up until you press Ctrl-C here. In another terminal:",
		"",
		"  export KUBECONFIG=" + d.kubeconfig(),
		"  " + kubectl + " get memcacheds,deployments,services,pods",
		"  " + kubectl + " describe memcached " + name,
		"  " + kubectl + " scale memcached " + name + " --replicas 7",
		"  " + kubectl + " get memcached " + name + " --output wide --watch",
		"  " + kubectl + " delete memcached " + name,
		"  tail -f " + d.operatorLog(),
	}, "\n"))
	select {
	case <-ctx.Done():
		return nil
	case <-d.operator.ended:
		return fmt.Errorf("%w\n%s", d.operator.endedEarly(), d.operator.lastLines())
	case <-d.cluster.ended:
		return fmt.Errorf("%w\n%s", d.cluster.endedEarly(), d.cluster.lastLines())
	}
}
