package source

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/predicate"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// defaultBufferSize is how many events a Channel takes in before its handler has taken them.
const defaultBufferSize = 1024

// ChannelOpt changes how a Channel works.
type ChannelOpt[object any, request comparable] func(*channel[object, request])

// WithPredicates adds predicates that all have to let an event pass.
func WithPredicates[object any, request comparable](p ...predicate.TypedPredicate[object]) ChannelOpt[object, request] {
	return func(c *channel[object, request]) { c.predicates = append(c.predicates, p...) }
}

// WithBufferSize sets how many events each controller's share of the source holds before sending to the
// source blocks. The default is 1024.
func WithBufferSize[object any, request comparable](bufferSize int) ChannelOpt[object, request] {
	return func(c *channel[object, request]) { c.buffer = bufferSize }
}

// Channel returns a source of the events that other code sends to source. Started by several controllers,
// each gets every event. When source is closed, the events sent before are still handled.
func Channel[object any](
	source <-chan event.TypedGenericEvent[object],
	handler handler.TypedEventHandler[object, reconcile.Request],
	opts ...ChannelOpt[object, reconcile.Request],
) Source {
	return TypedChannel(source, handler, opts...)
}

// TypedChannel returns a source of the events that other code sends to source. Started by several
// controllers, each gets every event. When source is closed, the events sent before are still handled.
func TypedChannel[object any, request comparable](
	source <-chan event.TypedGenericEvent[object],
	handler handler.TypedEventHandler[object, request],
	opts ...ChannelOpt[object, request],
) TypedSource[request] {
	c := &channel[object, request]{source: source, handler: handler, buffer: defaultBufferSize}
	for _, apply := range opts {
		apply(c)
	}
	return c
}

type channel[object any, request comparable] struct {
	source     <-chan event.TypedGenericEvent[object]
	handler    handler.TypedEventHandler[object, request]
	predicates []predicate.TypedPredicate[object]
	buffer     int

	mu      sync.Mutex
	outlets map[*outlet[object]]struct{}
	pump    *pump // runs while there are outlets; nil otherwise
}

// outlet is one controller's share of a Channel.
type outlet[object any] struct {
	events chan event.TypedGenericEvent[object]
	done   <-chan struct{}
}

// pump is the goroutine that fills the outlets. The last outlet to leave tells it to end, and waits for it.
type pump struct {
	end   chan struct{}
	ended chan struct{}
}

func (c *channel[object, request]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[request]) error {
	return c.StartIn(ctx, new(sync.WaitGroup), queue)
}

func (c *channel[object, request]) StartIn(ctx context.Context, group *sync.WaitGroup, queue workqueue.TypedRateLimitingInterface[request]) error {
	switch {
	case c.source == nil:
		return errors.New("source.Channel without a channel")
	case c.handler == nil:
		return errors.New("source.Channel without a handler")
	case c.buffer < 0:
		return fmt.Errorf("source.Channel with buffer size %d", c.buffer)
	}
	o := &outlet[object]{
		events: make(chan event.TypedGenericEvent[object], c.buffer),
		done:   ctx.Done(),
	}
	c.join(o)
	group.Go(func() {
		defer c.leave(o)
		c.handle(ctx, o, queue)
	})
	return nil
}

func (c *channel[object, request]) String() string {
	return fmt.Sprintf("channel source: %p", c.source)
}

func (c *channel[object, request]) handle(ctx context.Context, o *outlet[object], queue workqueue.TypedRateLimitingInterface[request]) {
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-o.events:
			if !open {
				return
			}
			if all(c.predicates, func(p predicate.TypedPredicate[object]) bool { return p.Generic(e) }) {
				c.handler.Generic(ctx, e, because(queue, reconcile.CauseGeneric, e.Object))
			}
		}
	}
}

// join adds an outlet, and starts the pump with the first.
func (c *channel[object, request]) join(o *outlet[object]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outlets == nil {
		c.outlets = map[*outlet[object]]struct{}{}
	}
	c.outlets[o] = struct{}{}
	if c.pump == nil {
		c.pump = &pump{end: make(chan struct{}), ended: make(chan struct{})}
		go c.fill(c.pump)
	}
}

// leave removes an outlet, and with the last one the pump.
func (c *channel[object, request]) leave(o *outlet[object]) {
	c.mu.Lock()
	delete(c.outlets, o)
	last := c.pump
	if len(c.outlets) > 0 {
		last = nil
	} else {
		c.pump = nil
	}
	c.mu.Unlock()
	if last != nil {
		close(last.end)
		<-last.ended
	}
}

// fill passes every event of the source to every outlet.
func (c *channel[object, request]) fill(p *pump) {
	defer close(p.ended)
	for {
		select {
		case <-p.end:
			return
		case e, open := <-c.source:
			for _, o := range c.current() {
				if !open {
					close(o.events)
					continue
				}
				select {
				case o.events <- e:
				case <-o.done:
				}
			}
			if !open {
				return
			}
		}
	}
}

func (c *channel[object, request]) current() []*outlet[object] {
	c.mu.Lock()
	defer c.mu.Unlock()
	outlets := make([]*outlet[object], 0, len(c.outlets))
	for o := range c.outlets {
		outlets = append(outlets, o)
	}
	return outlets
}
