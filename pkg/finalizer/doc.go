// Package finalizer keeps the finalizers of a kind of object together with the work that each of them stands for.
//
// A [Finalizer] does the work that has to be done before an object may go. [Finalizers] has one for each key: the
// string in metadata.finalizers. A reconciler calls Finalize with every object it gets; the [Result] tells it what to
// write:
//
//	res, err := finalizers.Finalize(ctx, obj)
//	if res.StatusUpdated {
//		answer := obj.DeepCopy()
//		if werr := c.Status().Update(ctx, answer); werr != nil {
//			return errors.Join(err, client.IgnoreNotFound(werr))
//		}
//		obj.SetResourceVersion(answer.GetResourceVersion())
//	}
//	if res.Updated {
//		err = errors.Join(err, client.IgnoreNotFound(c.Update(ctx, obj)))
//	}
//	return err
//
// The status is written first, since the object may be gone after its last key is; and from a copy, since the answer to
// a write replaces what was written, with the keys as the server has them.
//
// What is guaranteed:
//
//   - An object that is not being deleted gets all registered keys, in the order of their registration, behind those it
//     has. No Finalizer runs.
//   - For an object that is being deleted the Finalizers run whose keys it still has, one after the other, in the order
//     of their registration. The key goes when its Finalizer returns no error, and stays when it returns one. An error of
//     one does not keep the others from running.
//   - Keys that are not registered are left alone. No key is added to an object that is being deleted.
//   - Finalizers can be used by several goroutines at once, each with its own object.
//
// What is not:
//
//   - Nothing is written to the API server. Between the work and the write the program may end, and the write may
//     fail with a conflict: a Finalizer then runs again, and has to bear it.
//   - A Finalizer that panics is not caught.
//   - A key that is no longer registered is never removed.
package finalizer
