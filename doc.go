// Package operon gathers the names that an operator's main needs. It is
// imported as ctrl:
//
//	import ctrl "github.com/operon-dev/operon"
//
// An operator keeps the objects of a kind, and what belongs to them, as their
// specifications say. Its parts, and the packages below pkg that hold them, are:
//
//   - a [Manager] (pkg/manager), which runs all the others, serves metrics and
//     health probes, elects a leader among replicas, and stops everything in order;
//   - controllers (pkg/controller), each made by a [Builder] (pkg/builder), which
//     watch kinds of objects and queue a [Request] for each object that may need work;
//   - reconcilers (pkg/reconcile), the operator's own code, which take a Request,
//     do what is needed, and return a [Result];
//   - webhooks (pkg/webhook), which default, validate and convert objects when the
//     API server asks, and whose certificates the manager can make itself;
//   - a client (pkg/client), which writes to the API server and reads from a
//     cache (pkg/cache) that watches keep up to date;
//   - a scheme, which knows the Go types of the kinds;
//   - a logger (pkg/log), which a program chooses with [SetLogger].
//
// The shape of a main:
//
//	func main() {
//		ctrl.SetLogger(zap.New())
//		mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
//		...
//		err = ctrl.NewControllerManagedBy(mgr).
//			For(&cachev1alpha1.Memcached{}).
//			Owns(&appsv1.Deployment{}).
//			Complete(&MemcachedReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()})
//		...
//		err = mgr.Start(ctrl.SetupSignalHandler())
//	}
//
// # Guarantees
//
// Names, signatures and documented behaviour are those of
// sigs.k8s.io/controller-runtime v0.25, so a program written for it compiles
// when its import paths are changed. What a client has written, the cache it reads from shows at once.
//
// # What is not guaranteed
//
// One call of a reconciler may stand for several changes, and there are calls
// without any. What the cache shows of other writers' changes may be old.
package operon
