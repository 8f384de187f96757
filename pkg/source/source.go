package source

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/reconcile"
)

// Source fills a controller's queue.
type Source = TypedSource[reconcile.Request]

// TypedSource fills a controller's queue with requests.
type TypedSource[request comparable] interface {
	// Start makes the source fill the queue from now on until ctx ends. It is called by the controller, and
	// returns without waiting for anything.
	Start(context.Context, workqueue.TypedRateLimitingInterface[request]) error
}

// SyncingSource is a source that has something to look through before its controller may begin to work.
type SyncingSource = TypedSyncingSource[reconcile.Request]

// TypedSyncingSource is a source that has something to look through before its controller may begin to work.
type TypedSyncingSource[request comparable] interface {
	TypedSource[request]

	// WaitForSync returns nil when the source, which has been started, has queued what was there at its
	// start, or an error saying why it cannot. When ctx ends first, the error says what it waited for.
	WaitForSync(ctx context.Context) error
}

// TypedTellingSource is a source that can say what it waits for.
type TypedTellingSource[request comparable] interface {
	TypedSyncingSource[request]

	// Obstacle returns what keeps the source from being synced at present, or nil if it is synced or does not
	// know. It returns at once.
	Obstacle() error
}

// TypedOwnedSource is a source whose goroutines have an owner that waits for them.
type TypedOwnedSource[request comparable] interface {
	TypedSource[request]

	// StartIn is Start, except that the source's goroutines run in group. All of them end after ctx has
	// ended. A controller calls StartIn in place of Start where a source has it.
	StartIn(ctx context.Context, group *sync.WaitGroup, queue workqueue.TypedRateLimitingInterface[request]) error
}

// Func is a function as a Source.
type Func = TypedFunc[reconcile.Request]

// TypedFunc is a function as a TypedSource.
type TypedFunc[request comparable] func(context.Context, workqueue.TypedRateLimitingInterface[request]) error

// Start calls the function.
func (f TypedFunc[request]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[request]) error {
	return f(ctx, queue)
}

// String names the function by its address.
func (f TypedFunc[request]) String() string {
	return fmt.Sprintf("func source: %p", f)
}

var _ Source = Func(nil)
