package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
	peerclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// configMapClient is a client with a cache, of one of the libraries.
type configMapClient struct {
	create, update, get func(*corev1.ConfigMap) error
	written             *corev1.ConfigMap
	stale               int
	latency             []float64
	running             *started
}

// ownWriteRows updates a ConfigMap and reads it from the cache at once, again and
// again. A read is stale when it does not show the version that the update
// returned. Each contender has a ConfigMap and a cache of its own.
func ownWriteRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
	cfg, err := env.config()
	if err != nil {
		return nil, err
	}
	p := env.plan(500, 500)
	makers := []func(context.Context, *rest.Config) (*configMapClient, error){newOurClient, newPeerClient(false), newPeerClient(true)}
	var clients []*configMapClient
	defer func() {
		for _, c := range clients {
			err = errors.Join(err, c.running.stop())
		}
	}()
	for _, make := range makers {
		c, err := make(ctx, cfg)
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	for round := range p.rounds() {
		for _, i := range inTurn(round, len(clients)) {
			c := clients[i]
			if err := c.round(round); err != nil {
				return nil, fmt.Errorf("ConfigMap default/%s: %w", c.written.Name, err)
			}
		}
	}

	ours, peer, waits := clients[0], clients[1], clients[2]
	stale := func(c *configMapClient) []float64 { return []float64{float64(c.stale)} }
	name := fmt.Sprintf("Stale reads after %d own updates", len(ours.latency))
	counts := plan{planned: 1}.of(
		report.Row{Name: name, Unit: report.Reads, Ours: stale(ours), Peer: stale(peer), PeerName: "default"}.Wants(report.AtMost(0)),
		report.Row{Name: name, Unit: report.Reads, Ours: stale(ours), Peer: stale(waits), PeerName: "EnableReadYourWritesConsistency"},
	)
	return append(counts, p.of(
		report.Row{Name: "Latency of a read after an own update", Unit: report.Nanoseconds, Ours: ours.latency, Peer: peer.latency, PeerName: "default", Note: "the peer's reads may be stale"},
		report.Row{Name: "Latency of a read after an own update", Unit: report.Nanoseconds, Ours: ours.latency, Peer: waits.latency, PeerName: "EnableReadYourWritesConsistency", Note: "the peer's reads wait for the watch"},
	)...), nil
}

func (c *configMapClient) round(n int) error {
	c.written.Data = map[string]string{"round": fmt.Sprint(n)}
	if err := c.update(c.written); err != nil {
		return err
	}
	var read corev1.ConfigMap
	before := time.Now()
	err := c.get(&read)
	c.latency = append(c.latency, float64(time.Since(before).Nanoseconds()))
	if err == nil && read.ResourceVersion != c.written.ResourceVersion {
		c.stale++
	}
	return err
}

func newOurClient(ctx context.Context, cfg *rest.Config) (*configMapClient, error) {
	reader, err := cache.New(cfg, cache.Options{})
	if err != nil {
		return nil, err
	}
	c, err := client.New(cfg, client.Options{Cache: &client.CacheOptions{Reader: reader}})
	if err != nil {
		return nil, err
	}
	written := newConfigMap("operon")
	key := client.ObjectKeyFromObject(written)
	made := &configMapClient{
		written: written, running: startCache(ctx, reader),
		create: func(obj *corev1.ConfigMap) error { return c.Create(ctx, obj) },
		update: func(obj *corev1.ConfigMap) error { return c.Update(ctx, obj) },
		get:    func(obj *corev1.ConfigMap) error { return c.Get(ctx, key, obj) },
	}
	return made, made.warm()
}

func newPeerClient(consistent bool) func(context.Context, *rest.Config) (*configMapClient, error) {
	return func(ctx context.Context, cfg *rest.Config) (*configMapClient, error) {
		reader, err := peercache.New(cfg, peercache.Options{})
		if err != nil {
			return nil, err
		}
		options := &peerclient.CacheOptions{Reader: reader}
		name := "peer"
		if consistent {
			options.EnableReadYourWritesConsistency = ptr.To(true)
			name = "peer-consistent"
		}
		c, err := peerclient.New(cfg, peerclient.Options{Cache: options})
		if err != nil {
			return nil, err
		}
		written := newConfigMap(name)
		key := peerclient.ObjectKeyFromObject(written)
		made := &configMapClient{
			written: written, running: startCache(ctx, reader),
			create: func(obj *corev1.ConfigMap) error { return c.Create(ctx, obj) },
			update: func(obj *corev1.ConfigMap) error { return c.Update(ctx, obj) },
			get:    func(obj *corev1.ConfigMap) error { return c.Get(ctx, key, obj) },
		}
		return made, made.warm()
	}
}

// warm makes the cache watch ConfigMaps, and creates the one that is updated,
// before anything is measured. The cache may not show it yet.
func (c *configMapClient) warm() error {
	err := c.create(c.written)
	if err == nil {
		err = client.IgnoreNotFound(c.get(&corev1.ConfigMap{}))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("ConfigMap default/%s: %w", c.written.Name, err), c.running.stop())
	}
	return nil
}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bench-" + name}}
}
