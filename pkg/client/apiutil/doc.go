// Package apiutil answers what a client has to know about a kind before it can make a request: which kind a Go object is
// ([GVKForObject]), which resource serves the kind and whether it has namespaces ([NewDynamicRESTMapper],
// [IsGVKNamespaced], [IsObjectNamespaced]), and how to talk to it ([RESTClientForGVK]).
//
// Guarantees: the dynamic REST mapper never answers that a kind is unknown without having asked the server after it was
// asked itself, so a CustomResourceDefinition that arrives late is found; callers that ask for the same at the same time
// share one request; everything here is safe for concurrent use. Errors about kinds and resources that the server does not serve
// satisfy meta.IsNoMatchError.
//
// Not guaranteed: what has been found is kept. A kind that has since gone from the server is still mapped, and it is the
// request made with the mapping that says so.
package apiutil
