package cache

import (
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
)

// AllNamespaces, as a key of a map of namespaces, stands for all namespaces that are not keys of the map.
const AllNamespaces = metav1.NamespaceAll

// Options are what a cache can be told. The zero value makes a cache of everything in all namespaces.
//
// A setting that several levels have is taken from the first of them where it is not nil: the namespace in
// [ByObject].Namespaces, ByObject, the namespace in DefaultNamespaces, the Default fields.
type Options struct {
	// HTTPClient makes the requests. Default: one made from the rest.Config.
	HTTPClient *http.Client

	// Scheme tells the kinds of Go types. Default: client-go's scheme.
	Scheme *runtime.Scheme

	// Mapper tells the resources of kinds. Default: one that asks the API server when it meets a new kind.
	Mapper meta.RESTMapper

	// SyncPeriod is the time after which every handler gets an Update event with the same old and new object for all
	// that is cached, give or take a tenth. Nothing is asked of the API server for it. A negative period, as a zero
	// one, means never. Default: 10 hours.
	SyncPeriod *time.Duration

	// ReaderFailOnMissingInformer makes Get and List of a resource that nobody has asked an informer or an index for
	// fail with [ErrResourceNotCached]. Default: such a read starts watching the resource.
	ReaderFailOnMissingInformer bool

	// KeepManagedFields keeps metadata.managedFields of the objects. By default they are dropped before an object
	// enters the cache: they often take more memory than all the rest. An object read without them can be updated
	// as it is, since the API server keeps them when an update carries none.
	KeepManagedFields bool

	// OnMutation turns on the mutation detector, for tests, and is called when somebody is found to have written into an
	// object that readers share: one from [Lend], [All] or UnsafeDisableDeepCopy, or one that an event handler was given.
	// It may be called from several goroutines, during Start only, and a last time right before that returns; a test
	// passes func(m cache.Mutation) { t.Error(m) }.
	//
	// Each object that is handed out is copied, and compared with its copy every second and after each call of a handler:
	// time and memory for what is cached more than double. [ByObject].Compact has no effect.
	//
	// Default: nobody looks, and nothing is copied or compared. Where the environment variable
	// KUBE_CACHE_MUTATION_DETECTOR is true, as client-go knows it, a panic with the Mutation as its text.
	OnMutation func(Mutation)

	// DefaultNamespaces are the namespaces whose objects are cached, with what is special about each. A nil or empty
	// map means all namespaces. Cluster-scoped objects are not affected.
	DefaultNamespaces map[string]Config

	// DefaultLabelSelector selects the objects that are cached. Default: all.
	DefaultLabelSelector labels.Selector

	// DefaultFieldSelector selects the objects that are cached. The API server has to know the fields. Default: all.
	DefaultFieldSelector fields.Selector

	// DefaultTransform is called with every object before it enters the cache. See [ByObject].Transform.
	DefaultTransform toolscache.TransformFunc

	// DefaultWatchErrorHandler is called when listing or watching fails, besides the log entry that is written anyway.
	// The cache then waits and tries again, whatever the handler does.
	DefaultWatchErrorHandler toolscache.WatchErrorHandlerWithContext

	// DefaultUnsafeDisableDeepCopy makes Get and List hand out the cached objects themselves. See
	// [ByObject].UnsafeDisableDeepCopy.
	DefaultUnsafeDisableDeepCopy *bool

	// DefaultEnableWatchBookmarks asks the API server to tell now and then how far a watch has come. Default: true.
	DefaultEnableWatchBookmarks *bool

	// DefaultCompact holds objects encoded and compressed. See [ByObject].Compact. Default: false.
	DefaultCompact *bool

	// ByObject says what is special about some kinds, each named by an object of the kind in any form. It holds for the
	// kind's readers in all forms.
	ByObject map[client.Object]ByObject

	// NewInformer makes what lists and watches one kind in one namespace, or in all, in the place of client-go's Reflector:
	// for tests, and for programs with informers of their own. It is called for each of them when watching begins, and
	// again when it begins anew, with a resync period of 0 and no indexers, since handlers, indexes and reads are the
	// cache's. What the informer holds is copied into the cache: the memory doubles. Default: nil, a Reflector.
	NewInformer func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer
}

// ByObject is what is special about one kind. A nil field means the default of [Options].
type ByObject struct {
	// Namespaces are the namespaces whose objects are cached, with what is special about each. A nil map means
	// Options.DefaultNamespaces; an empty one means all namespaces. It must be nil for cluster-scoped kinds.
	Namespaces map[string]Config

	// Label selects the objects that are cached.
	Label labels.Selector

	// Field selects the objects that are cached. The API server has to know the fields.
	Field fields.Selector

	// Transform is called with every object before it enters the cache, and may change it or return another of the same
	// Go type. It runs once for each form that has readers (Go type, unstructured, metadata), since each can
	// carry other fields. It must be safe for concurrent use, quick, and give the same result for the same object.
	Transform toolscache.TransformFunc

	// UnsafeDisableDeepCopy makes Get and List hand out the cached objects themselves instead of copies. Whoever reads must
	// then copy before changing anything. [Lend] and [All] do the same, where it is asked for.
	UnsafeDisableDeepCopy *bool

	// EnableWatchBookmarks asks the API server to tell now and then how far a watch has come. Default: true.
	EnableWatchBookmarks *bool

	// Compact holds the objects encoded and compressed in memory, in about a third of what they take otherwise, and decodes
	// them when they are read: for kinds with many objects that are read seldom. Everything works as without, at
	// another price: a Get takes up to twice as long, [Lend] and [All] cost as much as a Get and give each caller an object
	// of its own, each handler decodes the old object of an update (the new one is still at hand), and a field index
	// that is added later decodes all objects. Selecting by label, owner, namespace, name or indexed field decodes only
	// what is found.
	Compact *bool

	// SyncPeriod is as Options.SyncPeriod.
	SyncPeriod *time.Duration
}

// Config is what is special about a namespace. A nil field means the default of the level above.
type Config struct {
	// LabelSelector selects the objects that are cached. labels.Everything() lifts a default.
	LabelSelector labels.Selector

	// FieldSelector selects the objects that are cached. fields.Everything() lifts a default.
	FieldSelector fields.Selector

	// Transform is called with every object before it enters the cache. See [ByObject].Transform. A function that returns
	// its argument lifts a default.
	Transform toolscache.TransformFunc

	// UnsafeDisableDeepCopy is as in [ByObject].
	UnsafeDisableDeepCopy *bool

	// EnableWatchBookmarks is as in [ByObject].
	EnableWatchBookmarks *bool

	// SyncPeriod is as in Options. Handlers hear of all namespaces of a kind at the shortest of their periods.
	SyncPeriod *time.Duration
}

// TransformStripManagedFields returns a transform that drops metadata.managedFields. A cache does this by itself unless
// Options.KeepManagedFields is set.
func TransformStripManagedFields() toolscache.TransformFunc {
	return func(in any) (any, error) {
		if obj, err := meta.Accessor(in); err == nil && obj.GetManagedFields() != nil {
			obj.SetManagedFields(nil)
		}
		return in, nil
	}
}
