// Package scheme gathers the Go types of an API group, so that they can be added to a runtime.Scheme together.
//
// An API package declares a [Builder], registers its types with it, and offers the builder's AddToScheme:
//
//	var (
//		GroupVersion  = schema.GroupVersion{Group: "cache.example.com", Version: "v1alpha1"}
//		SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}
//		AddToScheme   = SchemeBuilder.AddToScheme
//	)
//
//	func init() { SchemeBuilder.Register(&Memcached{}, &MemcachedList{}) }
//
// A program then puts together the scheme that it needs:
//
//	s := runtime.NewScheme()
//	utilruntime.Must(clientgoscheme.AddToScheme(s))
//	utilruntime.Must(v1alpha1.AddToScheme(s))
//
// A Builder is not safe for concurrent use while it is being registered with.
package scheme
