package manager

import (
	"context"
	"errors"
	"fmt"

	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/operon-dev/operon/pkg/cluster"
	"github.com/operon-dev/operon/pkg/leaderelection"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/recorder"
	"github.com/operon-dev/operon/pkg/webhook/conversion"
)

// New makes a manager. It opens the listeners of the health probes and of
// pprof, so that an address in use is an error here, and does not wait for the
// API server. The config is copied.
func New(config *rest.Config, options Options) (Manager, error) {
	if config == nil {
		return nil, errors.New("the config is nil: a manager needs to know its API server")
	}
	options.setDefaults()
	if options.LivenessEndpointName == options.ReadinessEndpointName {
		return nil, fmt.Errorf("liveness and readiness probe have the same endpoint %s", options.LivenessEndpointName)
	}
	main, err := cluster.New(config, func(c *cluster.Options) {
		c.Scheme = options.Scheme
		c.MapperProvider = options.MapperProvider
		c.Logger = options.Logger
		c.Cache = options.Cache
		c.NewCache = options.NewCache
		c.Client = options.Client
		c.NewClient = options.NewClient
		//lint:ignore SA1019 it is as deprecated here
		c.EventBroadcaster = options.EventBroadcaster
	})
	if err != nil {
		return nil, err
	}
	metrics, err := metricsserver.NewServer(options.Metrics, main.GetConfig(), main.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	m := newManager(main, options)
	m.metricsServer = metrics
	if err := m.setUpCertificates(); err != nil {
		return nil, err
	}
	if err := m.setUpElection(); err != nil {
		return nil, err
	}
	if err := m.openProbes(); err != nil {
		return nil, err
	}
	return m, nil
}

func newManager(main cluster.Cluster, options Options) *manager {
	m := &manager{
		Cluster: main,
		options: options,
		logger:  options.Logger,
		elected: make(chan struct{}),

		converters: conversion.NewRegistry(),
	}
	m.failures = newFailures(m.logger)
	m.servers = newGroup("HTTP servers", m.failures.report)
	m.webhooks = newGroup("webhooks", m.failures.report)
	m.caches = newGroup("caches", m.failures.report)
	m.caches.started = cacheStarted
	m.always = newGroup("runnables without leader election", m.failures.report)
	m.warmup = newGroup("warm-up", m.failures.report)
	m.leading = newGroup("runnables with leader election", m.failures.report)
	return m
}

// setUpElection makes the lock, if there is to be an election.
func (m *manager) setUpElection() error {
	o := &m.options
	if !o.LeaderElection {
		return nil
	}
	if o.LeaderElectionResourceLockInterface != nil {
		m.lock = o.LeaderElectionResourceLockInterface
		return nil
	}
	var err error
	config, httpClient, broadcaster := m.GetConfig(), m.GetHTTPClient(), o.EventBroadcaster
	if o.LeaderElectionConfig != nil {
		config, broadcaster = rest.CopyConfig(o.LeaderElectionConfig), nil
		if httpClient, err = rest.HTTPClientFor(config); err != nil {
			return fmt.Errorf("leader election: %w", err)
		}
	}
	// The cluster's recorders stop before the election, whose last event comes after everything else has stopped.
	m.lockEvents, err = recorder.NewProvider(config, recorder.Options{
		HTTPClient: httpClient, Scheme: m.GetScheme(), Logger: m.logger.WithName("events"), Broadcaster: broadcaster,
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	m.lock, err = leaderelection.NewResourceLock(config, m.lockEvents, leaderelection.Options{
		LeaderElection:             true,
		LeaderElectionResourceLock: o.LeaderElectionResourceLock,
		LeaderElectionNamespace:    o.LeaderElectionNamespace,
		LeaderElectionID:           o.LeaderElectionID,
		RenewDeadline:              *o.RenewDeadline,
		LeaderLabels:               o.LeaderElectionLabels,
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	if lease, ok := m.lock.(*resourcelock.LeaseLock); ok {
		leases, err := coordinationv1client.NewForConfig(rest.AddUserAgent(rest.CopyConfig(config), "leader-election"))
		if err != nil {
			return fmt.Errorf("leader election: %w", err)
		}
		m.awaitRelease = func(ctx context.Context, released func()) {
			leaderelection.NotifyReleased(ctx, leases.Leases(lease.LeaseMeta.Namespace), lease.LeaseMeta.Name, released)
		}
	}
	return nil
}
