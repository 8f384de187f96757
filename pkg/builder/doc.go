// Package builder makes a controller of what it is for, what it owns and what else it watches:
//
//	err := builder.ControllerManagedBy(mgr).
//		For(&examplev1.Memcached{}).
//		Owns(&appsv1.Deployment{}).
//		Complete(&MemcachedReconciler{Client: mgr.GetClient()})
//
// For names the kind that is reconciled, and its events ask for the object itself. Owns names kinds that the
// reconciler creates, and their events ask for the owner. Watches and WatchesRawSource are for everything
// else. The manager that is named first runs the controller.
//
// Nothing happens before Build or Complete, and whatever was wrong in the calls before, they return it.
package builder
