package devloop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/cmd/operon/deploy"
	"github.com/operon-dev/operon/internal/gobuild"
)

// connectAndCheck connects, and meanwhile looks for settings of a person's own that keep go from building. No saved file changes those: they
// are an error.
func (l *loop) connectAndCheck(ctx context.Context) (lost <-chan struct{}, stop func() error, err error) {
	checking, end := context.WithCancel(ctx)
	defer end()
	var refused error
	checked := make(chan struct{})
	go func() {
		defer close(checked)
		if refused = gobuild.Check(checking, l.Root, l.Package, nil); refused == nil {
			l.decideOnCgo(checking)
		}
	}()
	lost, stop, err = l.connect(ctx)
	if err != nil {
		end()
		<-checked
		return nil, nil, err
	}
	if <-checked; refused != nil {
		return nil, nil, errors.Join(refused, stop())
	}
	return lost, stop, nil
}

// connect makes the cluster ready for use: lost is closed when it has gone, stop lets go of it.
func (l *loop) connect(ctx context.Context) (lost <-chan struct{}, stop func() error, err error) {
	stop = func() error { return nil }
	l.kubeconfig = l.Kubeconfig
	if l.Kubeconfig == "" && l.Context == "" {
		if lost, stop, err = l.startOwnPlane(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err := l.reach(ctx); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return lost, stop, nil
}

// startOwnPlane starts a control plane that goes away with the loop.
func (l *loop) startOwnPlane(ctx context.Context) (lost <-chan struct{}, stop func() error, err error) {
	l.own = true
	l.kubeconfig = filepath.Join(l.Root, "bin", "run.kubeconfig")
	if err := checkWritable(filepath.Dir(l.kubeconfig)); err != nil {
		return nil, nil, err
	}
	p, err := startPlane(ctx, l.Operon, l.kubeconfig, l.DataDir, l.Nodes, l.Stderr)
	if err != nil {
		return nil, nil, err
	}
	l.say("a control plane of your own is ready: export KUBECONFIG=%s", l.kubeconfig)
	if elsewhere := os.Getenv("KUBECONFIG"); elsewhere != "" && elsewhere != l.kubeconfig {
		l.say("the cluster of your shell's KUBECONFIG is left alone: --kubeconfig %s runs against it", elsewhere)
	}
	return p.ended, func() error { return errors.Join(p.stop(), removeIfThere(l.kubeconfig)) }, nil
}

// reach makes the client of the cluster, the kubeconfig of the manager, and, where the cluster can call this machine, what it calls webhooks by.
func (l *loop) reach(ctx context.Context) (err error) {
	if l.cluster, err = deploy.Connect(ctx, l.kubeconfig, l.Context); err != nil {
		return err
	}
	local := l.own
	if !l.own {
		// The manager gets one file with one context: the one that was asked for.
		l.kubeconfig = filepath.Join(l.temp, "kubeconfig")
		if local, err = deploy.WriteKubeconfig(l.kubeconfig, l.Kubeconfig, l.Context); err != nil {
			return err
		}
	}
	if local {
		if l.webhooks, err = newWebhooks(l.temp, l.WebhookPort); err != nil {
			return err
		}
	}
	if os.Getenv(enableWebhooks) == "false" {
		l.webhooks = nil
	}
	return nil
}

// checkWritable makes a directory, and says so where nothing can be put into it.
func checkWritable(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var file *os.File
		if file, err = os.CreateTemp(dir, ".operon-run-"); err == nil {
			err = errors.Join(file.Close(), os.Remove(file.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("the manager is built into %s, which cannot be written: %w", dir, err)
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
