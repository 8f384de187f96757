package informertest

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/controller/controllertest"
)

// FakeInformers is a cache without an API server. The zero value is ready for use.
type FakeInformers struct {
	// InformersByGVK are the informers. Those that are not there are made, and put there, when they are first asked for.
	InformersByGVK map[schema.GroupVersionKind]toolscache.SharedIndexInformer

	// Scheme tells the kinds of Go types. Default: client-go's.
	Scheme *runtime.Scheme

	// Error, if set, is what every method that returns an error returns, doing nothing else.
	Error error

	// Synced is what WaitForCacheSync returns, and whether informers are synced when they are made. A source of a cache
	// that is not Operon's, as this one, fails when WaitForCacheSync says false. Default: true.
	Synced *bool

	mu sync.Mutex // guards InformersByGVK
}

var _ cache.Cache = &FakeInformers{}

// GetInformer returns the informer of obj's kind. It does not wait: with Synced false, the informer is not synced.
func (c *FakeInformers) GetInformer(_ context.Context, obj client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return orNil(c.informerOf(obj))
}

// GetInformerForKind returns the informer of gvk, which need not be in the scheme.
func (c *FakeInformers) GetInformerForKind(_ context.Context, gvk schema.GroupVersionKind, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return orNil(c.informer(gvk))
}

// FakeInformerFor returns the informer of obj's kind, for making events. It is an error if InformersByGVK was given another
// sort of informer for it.
func (c *FakeInformers) FakeInformerFor(_ context.Context, obj client.Object) (*controllertest.FakeInformer, error) {
	return asFake(c.informerOf(obj))
}

// FakeInformerForKind is FakeInformerFor for a kind, which need not be in the scheme.
func (c *FakeInformers) FakeInformerForKind(_ context.Context, gvk schema.GroupVersionKind) (*controllertest.FakeInformer, error) {
	return asFake(c.informer(gvk))
}

// RemoveInformer forgets the informer of obj's kind; the next to ask gets a new one. It is no error if there is none.
func (c *FakeInformers) RemoveInformer(_ context.Context, obj client.Object) error {
	gvk, err := c.kindOf(obj)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.InformersByGVK, gvk)
	return nil
}

// Start returns Error at once: there is nothing to run.
func (c *FakeInformers) Start(context.Context) error { return c.Error }

// WaitForCacheSync returns Synced at once.
func (c *FakeInformers) WaitForCacheSync(context.Context) bool { return c.synced() }

// IndexField returns Error and keeps nothing.
func (c *FakeInformers) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return c.Error
}

// Get returns Error and leaves obj as it is.
func (c *FakeInformers) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return c.Error
}

// List returns Error and leaves list as it is.
func (c *FakeInformers) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return c.Error
}

func (c *FakeInformers) synced() bool { return c.Synced == nil || *c.Synced }

func (c *FakeInformers) kindOf(obj client.Object) (schema.GroupVersionKind, error) {
	if c.Error != nil {
		return schema.GroupVersionKind{}, c.Error
	}
	s := c.Scheme
	if s == nil {
		s = scheme.Scheme
	}
	return apiutil.GVKForObject(obj, s)
}

func (c *FakeInformers) informerOf(obj client.Object) (toolscache.SharedIndexInformer, error) {
	gvk, err := c.kindOf(obj)
	if err != nil {
		return nil, err
	}
	return c.informer(gvk)
}

func (c *FakeInformers) informer(gvk schema.GroupVersionKind) (toolscache.SharedIndexInformer, error) {
	if c.Error != nil {
		return nil, c.Error
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i, ok := c.InformersByGVK[gvk]; ok {
		return i, nil
	}
	var opts []controllertest.InformerOption
	if c.synced() {
		opts = append(opts, controllertest.Synced)
	}
	i := controllertest.NewFakeInformer(opts...)
	if c.InformersByGVK == nil {
		c.InformersByGVK = map[schema.GroupVersionKind]toolscache.SharedIndexInformer{}
	}
	c.InformersByGVK[gvk] = i
	return i, nil
}

// orNil keeps an error from coming with a non-nil interface that holds nothing.
func orNil(i toolscache.SharedIndexInformer, err error) (cache.Informer, error) {
	if err != nil {
		return nil, err
	}
	return i, nil
}

func asFake(i toolscache.SharedIndexInformer, err error) (*controllertest.FakeInformer, error) {
	if err != nil {
		return nil, err
	}
	fake, ok := i.(*controllertest.FakeInformer)
	if !ok {
		return nil, fmt.Errorf("%T: not a fake informer", i)
	}
	return fake, nil
}
