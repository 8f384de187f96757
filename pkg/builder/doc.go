// Package builder makes controllers and webhooks of what they are for.
//
// A [Builder] makes a controller of the kind it reconciles, what that owns and what else is watched:
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
// A [WebhookBuilder] puts the webhooks of a kind on the manager's webhook server, each where it is expected:
//
//	err := builder.WebhookManagedBy(mgr, &examplev1.Memcached{}).
//		WithDefaulter(&MemcachedDefaulter{}).
//		WithValidator(&MemcachedValidator{}).
//		Complete()
//
// Nothing happens before Build or Complete, and whatever was wrong in the calls before, they return it.
package builder
