package conversion

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Converter converts objects of a kind. It is called by several goroutines at once.
type Converter interface {
	// ConvertObject writes src into dst, an empty object of another version
	// whose kind and version are already set.
	ConvertObject(ctx context.Context, src, dst runtime.Object) error
}

// Registry holds the converters of kinds. Its methods may be called by several goroutines at once.
type Registry interface {
	// RegisterConverter makes converter the one of a kind. It fails if there is one already.
	RegisterConverter(gk schema.GroupKind, converter Converter) error

	// GetConverter returns the converter of a kind, if there is one.
	GetConverter(gk schema.GroupKind) (Converter, bool)
}

// NewRegistry returns an empty registry.
func NewRegistry() Registry {
	return &registry{converters: map[schema.GroupKind]Converter{}}
}

type registry struct {
	mu         sync.RWMutex
	converters map[schema.GroupKind]Converter
}

// RegisterConverter implements Registry.
func (r *registry) RegisterConverter(gk schema.GroupKind, converter Converter) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.converters[gk]; taken {
		return fmt.Errorf("%s has a converter already", gk)
	}
	r.converters[gk] = converter
	return nil
}

// GetConverter implements Registry.
func (r *registry) GetConverter(gk schema.GroupKind) (Converter, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	converter, ok := r.converters[gk]
	return converter, ok
}
