package builder

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/controller"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/predicate"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
)

// Builder makes a controller whose requests name objects.
type Builder = TypedBuilder[reconcile.Request]

// TypedBuilder makes a controller. Its methods, Build and Complete apart, return the builder itself. It is
// not safe for concurrent use.
type TypedBuilder[request comparable] struct {
	mgr        manager.Manager
	name       string
	target     []ForInput
	owned      []OwnsInput
	watched    []WatchesInput[request]
	sources    []source.TypedSource[request]
	predicates []predicate.Predicate
	options    controller.TypedOptions[request]

	// make makes the controller. What a generic method calls by its name is compiled into each package that calls the method: all that a
	// controller consists of. Through this field the packages that use a Builder find it compiled already.
	make func(*TypedBuilder[request], reconcile.TypedReconciler[request]) (controller.TypedController[request], error)
}

// ControllerManagedBy begins a controller that m runs.
func ControllerManagedBy(m manager.Manager) *Builder {
	return &Builder{mgr: m, make: makeUsual}
}

func makeUsual(blder *Builder, r reconcile.Reconciler) (controller.Controller, error) {
	return makeController(blder, r, controller.New)
}

// TypedControllerManagedBy begins a controller that m runs, and whose requests are of another type than
// usual. For and Owns, which ask for objects by their names, are only for reconcile.Request.
func TypedControllerManagedBy[request comparable](m manager.Manager) *TypedBuilder[request] {
	return &TypedBuilder[request]{mgr: m, make: makeTyped[request]}
}

// For names the kind that is reconciled: each event of an object asks for the object. There can be only one;
// it also names the controller, unless Named does.
func (blder *TypedBuilder[request]) For(object client.Object, opts ...ForOption) *TypedBuilder[request] {
	input := ForInput{object: object}
	for _, opt := range opts {
		opt.ApplyToFor(&input)
	}
	blder.target = append(blder.target, input)
	return blder
}

// Owns names a kind that the reconciler creates on behalf of the kind of For: each event of an object asks
// for the owner that is its controller; with MatchEveryOwner, for all owners.
func (blder *TypedBuilder[request]) Owns(object client.Object, opts ...OwnsOption) *TypedBuilder[request] {
	input := OwnsInput{object: object}
	for _, opt := range opts {
		opt.ApplyToOwns(&input)
	}
	blder.owned = append(blder.owned, input)
	return blder
}

// Watches names a kind whose events eventHandler turns into requests.
func (blder *TypedBuilder[request]) Watches(
	object client.Object,
	eventHandler handler.TypedEventHandler[client.Object, request],
	opts ...WatchesOption,
) *TypedBuilder[request] {
	input := WatchesInput[request]{object: object, handler: eventHandler}
	for _, opt := range opts {
		opt.ApplyToWatches(&input)
	}
	blder.watched = append(blder.watched, input)
	return blder
}

// WatchesMetadata is Watches with OnlyMetadata.
func (blder *TypedBuilder[request]) WatchesMetadata(
	object client.Object,
	eventHandler handler.TypedEventHandler[client.Object, request],
	opts ...WatchesOption,
) *TypedBuilder[request] {
	return blder.Watches(object, eventHandler, append(opts[:len(opts):len(opts)], OnlyMetadata)...)
}

// WatchesRawSource adds any source. The predicates of WithEventFilter do not apply to it.
func (blder *TypedBuilder[request]) WatchesRawSource(src source.TypedSource[request]) *TypedBuilder[request] {
	blder.sources = append(blder.sources, src)
	return blder
}

// WithEventFilter adds a predicate that all events of For, Owns and Watches have to pass. It is asked about
// objects of all of these kinds.
func (blder *TypedBuilder[request]) WithEventFilter(p predicate.Predicate) *TypedBuilder[request] {
	blder.predicates = append(blder.predicates, p)
	return blder
}

// WithOptions sets the controller's options, except for the reconciler, which Build gets: it fails if there is one here.
func (blder *TypedBuilder[request]) WithOptions(options controller.TypedOptions[request]) *TypedBuilder[request] {
	blder.options = options
	return blder
}

// WithLogConstructor sets the option LogConstructor.
func (blder *TypedBuilder[request]) WithLogConstructor(logConstructor func(*request) logr.Logger) *TypedBuilder[request] {
	blder.options.LogConstructor = logConstructor
	return blder
}

// Named sets the controller's name, which is part of its metrics and logs and has to be unique. Letters,
// digits and underscores are safe. The default is the kind of For in lower case.
func (blder *TypedBuilder[request]) Named(name string) *TypedBuilder[request] {
	blder.name = name
	return blder
}

// Complete is Build for those who do not need the controller.
func (blder *TypedBuilder[request]) Complete(r reconcile.TypedReconciler[request]) error {
	_, err := blder.Build(r)
	return err
}

// Build makes the controller and adds it to the manager.
func (blder *TypedBuilder[request]) Build(r reconcile.TypedReconciler[request]) (controller.TypedController[request], error) {
	if r == nil {
		return nil, errors.New("the reconciler is nil")
	}
	if blder.options.Reconciler != nil {
		return nil, errors.New("reconciler was set via WithOptions() and via Build() or Complete(): give it once")
	}
	if blder.mgr == nil {
		return nil, errors.New("the manager is nil: ControllerManagedBy takes the one that runs the controller")
	}
	return blder.make(blder, r)
}

func makeTyped[request comparable](blder *TypedBuilder[request], r reconcile.TypedReconciler[request]) (controller.TypedController[request], error) {
	return makeController(blder, r, controller.NewTyped)
}

// makeController is Build, for a builder that has a manager, with the controller's constructor.
func makeController[request comparable](
	blder *TypedBuilder[request],
	r reconcile.TypedReconciler[request],
	newController func(string, manager.Manager, controller.TypedOptions[request]) (controller.TypedController[request], error),
) (controller.TypedController[request], error) {
	kind, err := kindOf(blder)
	if err != nil {
		return nil, err
	}
	if len(blder.owned) > 0 && len(blder.target) == 0 {
		return nil, errors.New("Owns() without For(), which names the kind of the owner")
	}
	name, err := nameOf(blder, kind)
	if err != nil {
		return nil, err
	}
	sources, err := sourcesOf(blder)
	if err != nil {
		return nil, fmt.Errorf("controller %q: %w", name, err)
	}
	c, err := newController(name, blder.mgr, optionsOf(blder, kind, r))
	if err != nil {
		return nil, err
	}
	for _, src := range sources {
		if err := c.Watch(src); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// kindOf is the kind of For, and empty where there is none.
func kindOf[request comparable](blder *TypedBuilder[request]) (schema.GroupVersionKind, error) {
	switch len(blder.target) {
	case 0:
		return schema.GroupVersionKind{}, nil
	case 1:
	default:
		return schema.GroupVersionKind{}, errors.New("For(...) more than once: a controller reconciles one kind, use Watches() for the others")
	}
	object := blder.target[0].object
	if object == nil {
		return schema.GroupVersionKind{}, errors.New("For(...) without an object")
	}
	gvk, err := apiutil.GVKForObject(object, blder.mgr.GetScheme())
	if err != nil {
		return gvk, fmt.Errorf("kind of %T: %w", object, err)
	}
	return gvk, nil
}

func nameOf[request comparable](blder *TypedBuilder[request], kind schema.GroupVersionKind) (string, error) {
	switch {
	case blder.name != "":
		return blder.name, nil
	case kind.Empty():
		return "", errors.New("controller without a name: one of For() or Named() must be called")
	}
	return strings.ToLower(kind.Kind), nil
}

// optionsOf completes the options with what the builder knows.
func optionsOf[request comparable](blder *TypedBuilder[request], kind schema.GroupVersionKind, r reconcile.TypedReconciler[request]) controller.TypedOptions[request] {
	options := blder.options
	options.Reconciler = r
	if options.MaxConcurrentReconciles == 0 && !kind.Empty() {
		options.MaxConcurrentReconciles = blder.mgr.GetControllerOptions().GroupKindConcurrency[kind.GroupKind().String()]
	}
	if options.GroupKind.Empty() {
		options.GroupKind = kind.GroupKind()
	}
	return options
}

// sourcesOf makes the sources of For, Owns and Watches, and adds the others.
func sourcesOf[request comparable](blder *TypedBuilder[request]) ([]source.TypedSource[request], error) {
	var sources []source.TypedSource[request]
	add := func(object client.Object, only projection, h handler.TypedEventHandler[client.Object, request], own []predicate.Predicate) error {
		object, err := only.of(object, blder.mgr)
		if err != nil {
			return err
		}
		predicates := append(blder.predicates[:len(blder.predicates):len(blder.predicates)], own...)
		sources = append(sources, source.TypedKind(blder.mgr.GetCache(), object, h, predicates...))
		return nil
	}
	for _, in := range blder.target {
		h, err := forRequests[request]("For", &handler.EnqueueRequestForObject{})
		if err != nil {
			return nil, err
		}
		if err := add(in.object, in.projection, h, in.predicates); err != nil {
			return nil, fmt.Errorf("For(%T): %w", in.object, err)
		}
	}
	for _, in := range blder.owned {
		var opts []handler.OwnerOption
		if !in.everyOwner {
			opts = append(opts, handler.OnlyControllerOwner())
		}
		owner := handler.EnqueueRequestForOwner(blder.mgr.GetScheme(), blder.mgr.GetRESTMapper(), blder.target[0].object, opts...)
		h, err := forRequests[request]("Owns", owner)
		if err != nil {
			return nil, err
		}
		if err := add(in.object, in.projection, h, in.predicates); err != nil {
			return nil, fmt.Errorf("Owns(%T): %w", in.object, err)
		}
	}
	for _, in := range blder.watched {
		if err := add(in.object, in.projection, in.handler, in.predicates); err != nil {
			return nil, fmt.Errorf("Watches(%T): %w", in.object, err)
		}
	}
	if len(sources)+len(blder.sources) == 0 {
		return nil, errors.New("nothing to watch, so nothing would ever be reconciled: name it with For, Owns, Watches or WatchesRawSource")
	}
	return append(sources, blder.sources...), nil
}

// forRequests returns the handler of a method as one for requests of another type, which it can only be if it is the
// same type.
func forRequests[request comparable](method string, h handler.EventHandler) (handler.TypedEventHandler[client.Object, request], error) {
	same, ok := h.(handler.TypedEventHandler[client.Object, request])
	if !ok {
		return nil, fmt.Errorf("%s() can only be used with %T, got %T", method, reconcile.Request{}, *new(request))
	}
	return same, nil
}

// of returns the object to watch for.
func (p projection) of(object client.Object, mgr manager.Manager) (client.Object, error) {
	if p != metadataOnly || object == nil {
		return object, nil
	}
	gvk, err := apiutil.GVKForObject(object, mgr.GetScheme())
	if err != nil {
		return nil, err
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(gvk)
	return metadata, nil
}
