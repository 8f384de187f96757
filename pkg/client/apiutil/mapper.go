package apiutil

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// NewDynamicRESTMapper returns a REST mapper that asks the server of cfg, through httpClient, when it has to. It makes no
// request until it is used.
//
// It learns as little as it can: one request for a kind whose version is named, a few for a group, and everything (two
// requests, where the server aggregates) only for a lookup that names no group. When it finds no match in what it knows, it
// asks again, for that group only. Callers that wait for the same answer share the request. It is safe for concurrent use,
// and also implements meta.RESTMapperWithContext, and meta.ResettableRESTMapper to forget all it has learned.
//
// Lookups return meta.NoKindMatchError or meta.NoResourceMatchError for what the server does not have, and
// ErrResourceDiscoveryFailed when it could not be asked.
func NewDynamicRESTMapper(cfg *rest.Config, httpClient *http.Client) (meta.RESTMapper, error) {
	if cfg == nil {
		return nil, errors.New("a REST mapper needs a rest.Config")
	}
	if httpClient == nil {
		return nil, errors.New("a REST mapper needs an HTTP client")
	}
	client, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("REST mapper: %w", err)
	}
	m := &dynamicMapper{source: &source{client: client}, asking: map[scope]*question{}}
	m.known.Store(&knowledge{})
	return m, nil
}

var (
	_ meta.RESTMapper            = &dynamicMapper{}
	_ meta.RESTMapperWithContext = &dynamicMapper{}
	_ meta.ResettableRESTMapper  = &dynamicMapper{}
)

// dynamicMapper looks things up in what it knows, and asks the server about the scope of a lookup that finds nothing.
type dynamicMapper struct {
	source *source
	known  atomic.Pointer[knowledge]

	mu     sync.Mutex // guards asking, and changes to known
	asking map[scope]*question
}

// question is a request under way. err may be read when done is closed.
type question struct {
	done chan struct{}
	err  error
}

// lookup answers from what is known of s, and asks the server if that is not enough.
func lookup[T any](ctx context.Context, m *dynamicMapper, s scope, look func(meta.RESTMapper) (T, error)) (T, error) {
	mapper, complete := m.known.Load().mapper(s)
	out, err := look(mapper)
	if complete && !meta.IsNoMatchError(err) {
		return out, err
	}
	for {
		asked, askErr := m.ask(ctx, s)
		if !asked && askErr != nil && ctx.Err() == nil {
			// Another caller's request failed, maybe because that caller gave up: this one makes its own.
			continue
		}
		mapper, _ = m.known.Load().mapper(s)
		out, err = look(mapper)
		if !meta.IsNoMatchError(err) {
			return out, err
		}
		if askErr != nil {
			return out, askErr
		}
		if asked {
			return out, err
		}
		// The request that this caller waited for was made before it came, so its answer may be too old to say "no such
		// kind". The next round's is not.
	}
}

// ask makes the request that s needs, and reports true; or, if one is under way, waits for it and reports false.
func (m *dynamicMapper) ask(ctx context.Context, s scope) (bool, error) {
	m.mu.Lock()
	if q, ok := m.asking[s]; ok {
		m.mu.Unlock()
		select {
		case <-q.done:
			return false, q.err
		case <-ctx.Done():
			return true, ctx.Err()
		}
	}
	q := &question{done: make(chan struct{})}
	m.asking[s] = q
	m.mu.Unlock()

	learned, err := m.source.fetch(ctx, s)

	m.mu.Lock()
	defer m.mu.Unlock()
	if learned != nil {
		m.known.Store(m.known.Load().with(s, learned))
	}
	delete(m.asking, s)
	q.err = err
	close(q.done)
	return true, err
}

// Reset forgets everything.
func (m *dynamicMapper) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known.Store(&knowledge{})
}

// RESTMapping implements meta.RESTMapper.
func (m *dynamicMapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return m.RESTMappingWithContext(context.Background(), gk, versions...)
}

// RESTMappingWithContext implements meta.RESTMapperWithContext.
func (m *dynamicMapper) RESTMappingWithContext(ctx context.Context, gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return lookup(ctx, m, kindScope(gk, versions), func(r meta.RESTMapper) (*meta.RESTMapping, error) {
		return r.RESTMapping(gk, versions...)
	})
}

// RESTMappings implements meta.RESTMapper.
func (m *dynamicMapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return m.RESTMappingsWithContext(context.Background(), gk, versions...)
}

// RESTMappingsWithContext implements meta.RESTMapperWithContext.
func (m *dynamicMapper) RESTMappingsWithContext(ctx context.Context, gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return lookup(ctx, m, kindScope(gk, versions), func(r meta.RESTMapper) ([]*meta.RESTMapping, error) {
		return r.RESTMappings(gk, versions...)
	})
}

// KindFor implements meta.RESTMapper.
func (m *dynamicMapper) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return m.KindForWithContext(context.Background(), resource)
}

// KindForWithContext implements meta.RESTMapperWithContext.
func (m *dynamicMapper) KindForWithContext(ctx context.Context, resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return lookup(ctx, m, resourceScope(resource), func(r meta.RESTMapper) (schema.GroupVersionKind, error) {
		return r.KindFor(resource)
	})
}

// KindsFor implements meta.RESTMapper.
func (m *dynamicMapper) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return m.KindsForWithContext(context.Background(), resource)
}

// KindsForWithContext implements meta.RESTMapperWithContext.
func (m *dynamicMapper) KindsForWithContext(ctx context.Context, resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return lookup(ctx, m, resourceScope(resource), func(r meta.RESTMapper) ([]schema.GroupVersionKind, error) {
		return r.KindsFor(resource)
	})
}

// ResourceFor implements meta.RESTMapper.
func (m *dynamicMapper) ResourceFor(input schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return m.ResourceForWithContext(context.Background(), input)
}

// ResourceForWithContext implements meta.RESTMapperWithContext.
func (m *dynamicMapper) ResourceForWithContext(ctx context.Context, input schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return lookup(ctx, m, resourceScope(input), func(r meta.RESTMapper) (schema.GroupVersionResource, error) {
		return r.ResourceFor(input)
	})
}

// ResourcesFor implements meta.RESTMapper.
func (m *dynamicMapper) ResourcesFor(input schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return m.ResourcesForWithContext(context.Background(), input)
}

// ResourcesForWithContext implements meta.RESTMapperWithContext.
func (m *dynamicMapper) ResourcesForWithContext(ctx context.Context, input schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return lookup(ctx, m, resourceScope(input), func(r meta.RESTMapper) ([]schema.GroupVersionResource, error) {
		return r.ResourcesFor(input)
	})
}

// ResourceSingularizer implements meta.RESTMapper.
func (m *dynamicMapper) ResourceSingularizer(resource string) (string, error) {
	return m.ResourceSingularizerWithContext(context.Background(), resource)
}

// ResourceSingularizerWithContext implements meta.RESTMapperWithContext.
func (m *dynamicMapper) ResourceSingularizerWithContext(ctx context.Context, resource string) (string, error) {
	return lookup(ctx, m, scope{everything: true}, func(r meta.RESTMapper) (string, error) {
		return r.ResourceSingularizer(resource)
	})
}
