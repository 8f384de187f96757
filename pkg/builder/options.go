package builder

import (
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/predicate"
)

// ForInput is what a call of For says. Options change it.
type ForInput struct {
	object     client.Object
	predicates []predicate.Predicate
	projection projection
}

// OwnsInput is what a call of Owns says. Options change it.
type OwnsInput struct {
	object     client.Object
	predicates []predicate.Predicate
	projection projection
	everyOwner bool
}

// WatchesInput is what a call of Watches says. Options change it.
type WatchesInput[request comparable] struct {
	object     client.Object
	handler    handler.TypedEventHandler[client.Object, request]
	predicates []predicate.Predicate
	projection projection
}

func (w *WatchesInput[request]) setPredicates(predicates []predicate.Predicate) {
	w.predicates = predicates
}

func (w *WatchesInput[request]) setProjection(p projection) { w.projection = p }

// untypedWatchesInput is a WatchesInput of any type of request.
type untypedWatchesInput interface {
	setPredicates([]predicate.Predicate)
	setProjection(projection)
}

// ForOption is an option of For.
type ForOption interface {
	ApplyToFor(*ForInput)
}

// OwnsOption is an option of Owns.
type OwnsOption interface {
	ApplyToOwns(*OwnsInput)
}

// WatchesOption is an option of Watches.
type WatchesOption interface {
	ApplyToWatches(untypedWatchesInput)
}

// Predicates is the option that WithPredicates returns.
type Predicates struct {
	predicates []predicate.Predicate
}

var (
	_ ForOption     = Predicates{}
	_ OwnsOption    = Predicates{}
	_ WatchesOption = Predicates{}
)

// WithPredicates sets the predicates that this one watch's events have to pass, besides those of WithEventFilter.
func WithPredicates(predicates ...predicate.Predicate) Predicates {
	return Predicates{predicates}
}

// ApplyToFor sets the predicates.
func (w Predicates) ApplyToFor(opts *ForInput) { opts.predicates = w.predicates }

// ApplyToOwns sets the predicates.
func (w Predicates) ApplyToOwns(opts *OwnsInput) { opts.predicates = w.predicates }

// ApplyToWatches sets the predicates.
func (w Predicates) ApplyToWatches(opts untypedWatchesInput) { opts.setPredicates(w.predicates) }

// projection is the form in which objects are watched.
type projection uint8

const (
	asGiven projection = iota
	metadataOnly
)

type projectAs projection

// OnlyMetadata makes a watch fetch no more than the objects' metadata; handlers and predicates get a
// *metav1.PartialObjectMetadata. It saves memory and traffic where objects are big or many. To read the
// objects from the cache, use that type, too: whoever gets whole objects makes the cache fetch whole objects.
var OnlyMetadata = projectAs(metadataOnly)

var (
	_ ForOption     = OnlyMetadata
	_ OwnsOption    = OnlyMetadata
	_ WatchesOption = OnlyMetadata
)

// ApplyToFor sets the form.
func (p projectAs) ApplyToFor(opts *ForInput) { opts.projection = projection(p) }

// ApplyToOwns sets the form.
func (p projectAs) ApplyToOwns(opts *OwnsInput) { opts.projection = projection(p) }

// ApplyToWatches sets the form.
func (p projectAs) ApplyToWatches(opts untypedWatchesInput) { opts.setProjection(projection(p)) }

type matchEveryOwner struct{}

// MatchEveryOwner makes Owns ask for every owner of the right kind, and not only for the one that is marked
// as the controller.
var MatchEveryOwner = &matchEveryOwner{}

var _ OwnsOption = MatchEveryOwner

// ApplyToOwns sets that every owner counts.
func (o matchEveryOwner) ApplyToOwns(opts *OwnsInput) { opts.everyOwner = true }
