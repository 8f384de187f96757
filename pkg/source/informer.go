package source

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/predicate"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// Informer is a source of what an informer sees. A controller does not wait for it: whoever made the informer
// minds whether it is synced.
type Informer = TypedInformer[client.Object, reconcile.Request]

// TypedInformer is a source of what an informer sees. A controller does not wait for it: whoever made the
// informer minds whether it is synced.
type TypedInformer[object any, request comparable] struct {
	// Informer whose events are handled. Required.
	Informer cache.Informer

	// Handler of the events. Required.
	Handler handler.TypedEventHandler[object, request]

	// Predicates that all have to let an event pass.
	Predicates []predicate.TypedPredicate[object]
}

// Start adds the handler to the informer, and removes it when ctx ends.
func (is *TypedInformer[object, request]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[request]) error {
	return is.StartIn(ctx, new(sync.WaitGroup), queue)
}

// StartIn is Start, except that what has to be done when ctx ends is done in group.
func (is *TypedInformer[object, request]) StartIn(ctx context.Context, group *sync.WaitGroup, queue workqueue.TypedRateLimitingInterface[request]) error {
	if is.Informer == nil {
		return errors.New("source.Informer without an Informer")
	}
	if is.Handler == nil {
		return errors.New("source.Informer without a Handler")
	}
	registration, err := is.Informer.AddEventHandlerWithOptions(notify(ctx, queue, is.Handler, is.Predicates), handlerOptions(ctx))
	if err != nil {
		return err
	}
	informer := is.Informer
	group.Go(func() {
		<-ctx.Done()
		if err := informer.RemoveEventHandler(registration); err != nil {
			log.FromContext(ctx).Error(err, "Event handler stays with its informer")
		}
	})
	return nil
}

// String names the informer by its address.
func (is *TypedInformer[object, request]) String() string {
	return fmt.Sprintf("informer source: %p", is.Informer)
}

var _ Source = &Informer{}
