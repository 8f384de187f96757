package config

import (
	"time"

	"github.com/go-logr/logr"

	"github.com/operon-dev/operon/pkg/reconcile"
)

// Controller is what the controllers of a manager fall back on. A setting made
// on a controller itself wins over the one made here.
type Controller struct {
	// SkipNameValidation, when true, allows two controllers of one name. Their
	// metrics and logs cannot be told apart then. Nil means false.
	SkipNameValidation *bool

	// GroupKindConcurrency is the number of objects reconciled at once by the
	// controllers that the builder makes for a kind. A key is the kind and its
	// group, as in "ReplicaSet.apps"; a kind of the core group stands alone.
	GroupKindConcurrency map[string]int

	// MaxConcurrentReconciles is the number of objects a controller reconciles
	// at once, unless GroupKindConcurrency knows its kind. Zero means 1.
	MaxConcurrentReconciles int

	// CacheSyncTimeout bounds how long a controller waits for the first
	// contents of the caches it watches before that is an error that ends the
	// manager. Zero means 2 minutes. With a negative one it goes on waiting,
	// while the others work.
	CacheSyncTimeout time.Duration

	// RecoverPanic turns a panic of a reconciler into an error of that one
	// reconciliation. Nil means true.
	RecoverPanic *bool

	// NeedLeaderElection keeps controllers waiting until the manager leads.
	// Nil means true.
	NeedLeaderElection *bool

	// EnableWarmup lets a controller that waits for leadership fill its caches
	// meanwhile, so that it starts at once when it is elected. It changes
	// nothing for a controller that does not need leader election. Nil means false.
	EnableWarmup *bool

	// UsePriorityQueue, when false, gives controllers a queue that takes keys
	// in the order of their arrival. Nil means true.
	UsePriorityQueue *bool

	// Logger is what controllers log to. Unset means the manager's logger.
	Logger logr.Logger

	// ReconciliationTimeout is the deadline of the context that each
	// reconciliation gets. Zero means none.
	ReconciliationTimeout time.Duration

	// OnReconciled is called after each reconciliation of any controller, with
	// all that is known about it. It has to be quick, and safe to be called by
	// all workers at once. Nil means that nobody is told.
	OnReconciled func(reconcile.Record)
}
