package fake

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	clientgoapplyconfigurations "k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/testing"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/client/fake/internal/crdschema"
	"github.com/operon-dev/operon/pkg/client/interceptor"
)

// ClientBuilder collects what a fake client is to be made of. Its methods return the builder itself; Build makes the client.
type ClientBuilder struct {
	scheme        *runtime.Scheme
	mapper        meta.RESTMapper
	objects       []client.Object
	lists         []client.ObjectList
	runtimes      []runtime.Object
	status        []client.Object
	definitions   []*apiextensionsv1.CustomResourceDefinition
	compileRules  RuleCompiler
	tracker       testing.ObjectTracker
	converters    []managedfields.TypeConverter
	functions     *interceptor.Funcs
	indexes       indexes
	managedFields bool
	globalVersion bool
}

// NewClientBuilder returns a builder of a client with no objects and the scheme of client-go.
func NewClientBuilder() *ClientBuilder { return &ClientBuilder{} }

// NewFakeClient returns a client with the scheme of client-go that holds the objects. An object that it cannot hold makes it
// panic.
func NewFakeClient(initObjs ...runtime.Object) client.WithWatch {
	return NewClientBuilder().WithRuntimeObjects(initObjs...).Build()
}

// WithScheme sets the scheme that tells the kinds of Go types. Default: that of client-go, with Kubernetes' own kinds.
func (f *ClientBuilder) WithScheme(scheme *runtime.Scheme) *ClientBuilder {
	f.scheme = scheme
	return f
}

// WithRESTMapper sets the mapper that the client returns, and by which it knows which kinds have no namespace. Default: one
// that knows the kinds of WithCRDs, and no others.
func (f *ClientBuilder) WithRESTMapper(restMapper meta.RESTMapper) *ClientBuilder {
	f.mapper = restMapper
	return f
}

// WithObjects adds objects. They are held as they are, whatever a server would think of them, but for one thing: an object
// with a deletionTimestamp must have a finalizer. Those without a resourceVersion are given "999", or the next one where
// WithGlobalResourceVersionCounter is set; Build writes it into the objects themselves too.
func (f *ClientBuilder) WithObjects(initObjs ...client.Object) *ClientBuilder {
	f.objects = append(f.objects, initObjs...)
	return f
}

// WithLists adds the items of lists, as WithObjects does.
func (f *ClientBuilder) WithLists(initLists ...client.ObjectList) *ClientBuilder {
	f.lists = append(f.lists, initLists...)
	return f
}

// WithRuntimeObjects adds objects and the items of lists, as WithObjects does.
func (f *ClientBuilder) WithRuntimeObjects(initRuntimeObjs ...runtime.Object) *ClientBuilder {
	f.runtimes = append(f.runtimes, initRuntimeObjs...)
	return f
}

// WithObjectTracker makes the client keep its objects in ot, which others may use at the same time. What an apply does is then
// the tracker's affair, and watches tell what the tracker's do. It cannot be combined with WithTypeConverters.
func (f *ClientBuilder) WithObjectTracker(ot testing.ObjectTracker) *ClientBuilder {
	f.tracker = ot
	return f
}

// WithIndex makes lists of obj's kind answer field selectors on field, with the values that extractValue tells. extractValue
// is given objects in the form of obj: typed, unstructured or metadata only. An index of the same kind and field is a
// panic, and so is an obj whose kind the scheme, which has to be set before, does not know.
func (f *ClientBuilder) WithIndex(obj runtime.Object, field string, extractValue client.IndexerFunc) *ClientBuilder {
	gvk, err := apiutil.GVKForObject(obj, f.schemeOrDefault())
	if err != nil {
		panic(fmt.Errorf("WithIndex: %w", err))
	}
	if extractValue == nil {
		panic(fmt.Errorf("WithIndex: the function that tells the values of field %s of %s is nil", field, gvk.Kind))
	}
	if f.indexes == nil {
		f.indexes = indexes{}
	}
	if !f.indexes.add(gvk, field, obj, extractValue) {
		panic(fmt.Errorf("WithIndex: field %s of %v has an index already", field, gvk))
	}
	return f
}

// WithStatusSubresource gives the kinds of the objects a status subresource: writes to an object of such a kind leave its
// status alone, and writes to its status all the rest. Kinds of Kubernetes that have one, have it here too; for custom
// resources this says it, or their CustomResourceDefinition.
func (f *ClientBuilder) WithStatusSubresource(o ...client.Object) *ClientBuilder {
	f.status = append(f.status, o...)
	return f
}

// WithCRDs makes the client treat custom resources by their definition, as a server does: unknown fields are dropped, defaults
// filled in, objects validated against schema and rules for metadata, generations counted, served versions, scope,
// subresources and selectable fields known, and lists merged by their keys in an apply. It is Operon's own. A definition
// whose schema is not structural is a panic in Build. envtest.ReadCRDFiles reads definitions from files.
func (f *ClientBuilder) WithCRDs(crds ...*apiextensionsv1.CustomResourceDefinition) *ClientBuilder {
	f.definitions = append(f.definitions, crds...)
	return f
}

// WithInterceptorFuncs makes Build return a client whose methods the functions stand in for.
func (f *ClientBuilder) WithInterceptorFuncs(interceptorFuncs interceptor.Funcs) *ClientBuilder {
	f.functions = &interceptorFuncs
	return f
}

// WithTypeConverters sets what tells an apply which lists and maps are merged, and how. The first that knows a kind is asked; a
// kind that none knows cannot be written. Default: the kinds of WithCRDs, then client-go's converter for Kubernetes' own,
// and for all others one that takes lists as a whole. It cannot be combined with WithObjectTracker.
func (f *ClientBuilder) WithTypeConverters(typeConverters ...managedfields.TypeConverter) *ClientBuilder {
	f.converters = append(f.converters, typeConverters...)
	return f
}

// WithReturnManagedFields makes answers carry metadata.managedFields. Default: they are kept, but not shown.
func (f *ClientBuilder) WithReturnManagedFields() *ClientBuilder {
	f.managedFields = true
	return f
}

// WithGlobalResourceVersionCounter makes all objects count their resourceVersions together, as in a server. Default: each
// counts for itself.
func (f *ClientBuilder) WithGlobalResourceVersionCounter() *ClientBuilder {
	f.globalVersion = true
	return f
}

func (f *ClientBuilder) schemeOrDefault() *runtime.Scheme {
	if f.scheme == nil {
		return clientgoscheme.Scheme
	}
	return f.scheme
}

// Build makes the client. It panics if what it was told makes no client: an object that cannot be held, or options that
// exclude each other. A builder can be used again; clients share nothing but the scheme, the mapper and the tracker.
func (f *ClientBuilder) Build() client.WithWatch {
	c, err := f.build()
	if err != nil {
		panic(err)
	}
	if f.functions != nil {
		return interceptor.NewClient(c, *f.functions)
	}
	return c
}

func (f *ClientBuilder) build() (*fakeClient, error) {
	if f.tracker != nil && len(f.converters) > 0 {
		return nil, errors.New("WithTypeConverters does not go with WithObjectTracker: use one of them")
	}
	if slices.Contains(f.converters, nil) {
		return nil, errors.New("WithTypeConverters: a converter is nil")
	}
	ks := &kinds{
		scheme:      f.schemeOrDefault(),
		mapper:      f.mapper,
		status:      map[schema.GroupVersionKind]bool{},
		definitions: map[schema.GroupVersionKind]*crdschema.Version{},
	}
	var versionsServed []*crdschema.Version
	for i, crd := range f.definitions {
		if crd == nil {
			return nil, fmt.Errorf("WithCRDs: definition %d is nil", i)
		}
		served, err := crdschema.Load(crd)
		if err != nil {
			return nil, err
		}
		if err := f.compileRules.compile(crd, served); err != nil {
			return nil, err
		}
		versionsServed = append(versionsServed, served...)
	}
	for _, v := range versionsServed {
		ks.definitions[v.Kind] = v
	}
	if ks.mapper == nil {
		ks.mapper = mapperOf(versionsServed)
	}
	for _, obj := range f.status {
		gvk, err := apiutil.GVKForObject(obj, ks.scheme)
		if err != nil {
			return nil, fmt.Errorf("WithStatusSubresource: %w", err)
		}
		ks.status[gvk] = true
	}
	converter, err := f.converter(ks, versionsServed)
	if err != nil {
		return nil, err
	}
	s := &server{
		kinds:         ks,
		managedFields: f.managedFields,
		owners:        &owners{converter: converter, strict: len(f.converters) > 0},
		store:         newMemory(),
		versions:      versions{global: f.globalVersion},
		watches:       map[*watching]struct{}{},
		indexes:       f.indexes.clone(),
	}
	if f.tracker != nil {
		s.store = &tracked{tracker: f.tracker}
	}
	return &fakeClient{server: s}, f.fill(s)
}

// fill gives the server the objects.
func (f *ClientBuilder) fill(s *server) error {
	give := func(obj runtime.Object) error {
		o, ok := obj.(client.Object)
		if !ok {
			return fmt.Errorf("objects of the fake client: %T is not an object: it has no metadata", obj)
		}
		if err := s.give(o); err != nil {
			return fmt.Errorf("objects of the fake client: %s: %w", describe(o), err)
		}
		return nil
	}
	giveAny := func(obj runtime.Object) error {
		if !meta.IsListType(obj) {
			return give(obj)
		}
		items, err := meta.ExtractList(obj)
		if err != nil {
			return fmt.Errorf("%T: %w", obj, err)
		}
		for _, item := range items {
			if err := give(item); err != nil {
				return err
			}
		}
		return nil
	}
	for _, obj := range f.objects {
		if err := give(obj); err != nil {
			return err
		}
	}
	for _, list := range f.lists {
		if err := giveAny(list); err != nil {
			return err
		}
	}
	for _, obj := range f.runtimes {
		if err := giveAny(obj); err != nil {
			return err
		}
	}
	return nil
}

// describe names an object that may be a nil pointer.
func describe(obj client.Object) string {
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Sprintf("%T", obj)
	}
	return fmt.Sprintf("%T %s", obj, keyOf(obj))
}

// converter returns what tells an apply how to merge.
func (f *ClientBuilder) converter(ks *kinds, served []*crdschema.Version) (managedfields.TypeConverter, error) {
	if len(f.converters) > 0 {
		return converters(f.converters), nil
	}
	usual := onceNeeded(sync.OnceValue(func() managedfields.TypeConverter {
		return converters{clientgoapplyconfigurations.NewTypeConverter(ks.scheme), managedfields.NewDeducedTypeConverter()}
	}))
	if len(served) == 0 {
		return usual, nil
	}
	own, err := crdschema.TypeConverter(served)
	return definedKinds{TypeConverter: usual, defined: ks.definitions, own: own}, err
}

// mapperOf returns a mapper of the kinds of definitions.
func mapperOf(served []*crdschema.Version) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, v := range served {
		scope := meta.RESTScopeRoot
		if v.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		gv := v.Kind.GroupVersion()
		mapper.AddSpecific(v.Kind, gv.WithResource(v.Resource), gv.WithResource(v.Singular), scope)
	}
	return mapper
}

// AddIndex adds an index to a client that has been built, as WithIndex does before. It is an error if there is one for the same
// kind and field already, and a panic if c is neither a fake client nor wraps one with a method Unwrap, as the clients of
// package interceptor do.
func AddIndex(c client.Client, obj runtime.Object, field string, extractValue client.IndexerFunc) error {
	for {
		switch wrapping := c.(type) {
		case *fakeClient:
			return wrapping.server.addIndex(obj, field, extractValue)
		case interface{ Unwrap() client.WithWatch }:
			c = wrapping.Unwrap()
		default:
			panic(fmt.Sprintf("AddIndex: %T is no fake client, and wraps none", c))
		}
	}
}

func (s *server) addIndex(obj runtime.Object, field string, extractValue client.IndexerFunc) error {
	gvk, err := apiutil.GVKForObject(obj, s.kinds.scheme)
	if err != nil {
		return fmt.Errorf("%T: %w", obj, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.indexes.add(gvk, field, obj, extractValue) {
		return fmt.Errorf("field %s of %s has an index already", field, gvk.Kind)
	}
	return nil
}
