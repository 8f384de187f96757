// Package interceptor puts functions of a test's own in place of a client's methods.
//
// The one noun is [Funcs]: a function for each method of a client, all optional. [NewClient] wraps a client with them. A
// function receives the client that is wrapped, so it can fail, count, change or delay a call, or pass it on:
//
//	c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
//		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
//			if key.Name == "broken" {
//				return apierrors.NewInternalError(errors.New("broken"))
//			}
//			return c.Get(ctx, key, obj, opts...)
//		},
//	})
//
// # Guarantees
//
//   - A method without a function calls the wrapped client with what it was given, and returns what that returned.
//   - What a function receives is the client that was wrapped: calling it does not come back to the function.
//   - Status() is SubResource("status"). Funcs.SubResource, when it is set, makes the whole client of a subresource, and the
//     functions for single methods of subresources are then not called.
//   - The wrapping client may be used by several goroutines at once if the wrapped one and the functions may.
//   - Unwrap returns the wrapped client.
//
// # What is not guaranteed
//
// Nothing is intercepted inside the wrapped client: a DeleteAllOf that it carries out object by object does not call
// Funcs.Delete. Scheme, RESTMapper, GroupVersionKindFor and IsObjectNamespaced cannot be intercepted.
package interceptor
