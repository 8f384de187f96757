package recorder

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	eventsv1client "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

// lastRequests is how long requests may still take when a provider stops.
const lastRequests = 2 * time.Second

// Options set up an [APIProvider].
type Options struct {
	// HTTPClient makes the requests. It is required.
	HTTPClient *http.Client

	// Scheme knows the kinds of the objects that events are about. It is required.
	Scheme *runtime.Scheme

	// Logger is told what could not be sent, and of every event at verbosity 1.
	Logger logr.Logger

	// Broadcaster takes the core/v1 events instead of one made here. It stays
	// its owner's to shut down.
	Broadcaster record.EventBroadcaster
}

// APIProvider sends events to an API server. It opens no connection and starts
// nothing until the first event.
type APIProvider struct {
	options Options
	core    corev1client.EventsGetter
	events  eventsv1client.EventsV1Interface

	// mu is held for reading while an event is handed over, so that none comes after the stop.
	mu      sync.RWMutex
	stopped bool

	coreOnce   sync.Once
	coreQueue  record.EventBroadcaster
	newerOnce  sync.Once
	newerQueue events.EventBroadcaster

	// sending ends what the queues do when the provider stops. It is kept here
	// because record.EventSink is passed no context.
	sending context.Context
	cancel  context.CancelFunc
	gate    gate
	last    *marker
}

var _ Provider = (*APIProvider)(nil)

// NewProvider returns a provider for the API server of config. Its owner has to
// run Start, which ends what the first event has set going.
func NewProvider(config *rest.Config, options Options) (*APIProvider, error) {
	core, err := corev1client.NewForConfigAndClient(config, options.HTTPClient)
	if err != nil {
		return nil, err
	}
	newer, err := eventsv1client.NewForConfigAndClient(config, options.HTTPClient)
	if err != nil {
		return nil, err
	}
	p := &APIProvider{options: options, core: core, events: newer, last: newMarker()}
	p.sending, p.cancel = context.WithCancel(logr.NewContext(context.Background(), options.Logger))
	return p, nil
}

// Start waits until ctx is done, and then stops: events recorded later are
// dropped, core/v1 events in the queue are sent, and requests under way are
// waited for, all of it for two seconds at most.
func (p *APIProvider) Start(ctx context.Context) error {
	<-ctx.Done()
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	late := time.AfterFunc(lastRequests, p.cancel)
	if p.coreQueue != nil && p.options.Broadcaster == nil {
		p.flush(p.coreQueue)
		p.coreQueue.Shutdown()
	}
	if p.newerQueue != nil {
		p.newerQueue.Shutdown()
	}
	// A request under way is let finish, if the server answers.
	p.gate.close()
	late.Stop()
	p.cancel()
	return nil
}

// GetEventRecorderFor implements Provider.
func (p *APIProvider) GetEventRecorderFor(name string) record.EventRecorder {
	return &coreRecorder{provider: p, name: name}
}

// GetEventRecorder implements Provider.
func (p *APIProvider) GetEventRecorder(name string) EventRecorder {
	return &newerRecorder{provider: p, name: name}
}

// handOver calls f unless the provider has stopped, and keeps it from stopping meanwhile.
func (p *APIProvider) handOver(f func()) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.stopped {
		f()
	}
}

func (p *APIProvider) hasStopped() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.stopped
}

// coreRecorderOf is called within handOver.
func (p *APIProvider) coreRecorderOf(name string) record.EventRecorder {
	p.coreOnce.Do(func() {
		p.coreQueue = p.options.Broadcaster
		if p.coreQueue == nil {
			p.coreQueue = record.NewBroadcaster(record.WithContext(p.sending))
		}
		p.coreQueue.StartRecordingToSink(&coreSink{provider: p})
		p.coreQueue.StartEventWatcher(func(e *corev1.Event) {
			if p.last.is(e) {
				return
			}
			p.options.Logger.V(1).Info(e.Message, "type", e.Type, "object", e.InvolvedObject, "reason", e.Reason)
		})
	})
	return p.coreQueue.NewRecorder(p.options.Scheme, corev1.EventSource{Component: name})
}

// newerRecorderOf is called within handOver.
func (p *APIProvider) newerRecorderOf(name string) events.EventRecorder {
	p.newerOnce.Do(func() {
		p.newerQueue = events.NewBroadcaster(&newerSink{provider: p, api: events.EventSinkImpl{Interface: p.events}})
		// It can only fail once the broadcaster is shut down.
		_ = p.newerQueue.StartRecordingToSinkWithContext(p.sending)
	})
	return p.newerQueue.NewRecorder(p.options.Scheme, name)
}

// gate counts the requests under way and lets none in once it is closed.
type gate struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside.Add(1)
	return true
}

func (g *gate) leave() { g.inside.Done() }

// close returns when nobody is inside any more.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}
