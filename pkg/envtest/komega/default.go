package komega

import (
	"context"
	"sync"

	"github.com/operon-dev/operon/pkg/client"
)

// shared is what the package's functions use.
var shared struct {
	sync.Mutex
	client client.Client
	ctx    context.Context
}

// SetClient sets the client that the package's functions use. Those that were made before keep theirs.
func SetClient(c client.Client) {
	shared.Lock()
	defer shared.Unlock()
	shared.client = c
}

// SetContext sets the context that the package's functions use. Without it they use one that does not end.
func SetContext(c context.Context) {
	shared.Lock()
	defer shared.Unlock()
	shared.ctx = c
}

func current() Komega {
	shared.Lock()
	defer shared.Unlock()
	if shared.client == nil {
		panic("komega has no client: call komega.SetClient before its other functions")
	}
	if shared.ctx == nil {
		return New(shared.client)
	}
	return New(shared.client).WithContext(shared.ctx)
}

// Get makes a function that reads the object and returns the error. See [Komega].
func Get(obj client.Object) func() error { return current().Get(obj) }

// List makes a function that lists into the list and returns the error. See [Komega].
func List(list client.ObjectList, opts ...client.ListOption) func() error {
	return current().List(list, opts...)
}

// Update makes a function that reads the object, calls f, which changes it, and writes it. See [Komega].
func Update(obj client.Object, f func(), opts ...client.UpdateOption) func() error {
	return current().Update(obj, f, opts...)
}

// UpdateStatus is Update for the status subresource. See [Komega].
func UpdateStatus(obj client.Object, f func(), opts ...client.SubResourceUpdateOption) func() error {
	return current().UpdateStatus(obj, f, opts...)
}

// Object makes a function that reads the object and returns it. See [Komega].
func Object(obj client.Object) func() (client.Object, error) { return current().Object(obj) }

// ObjectList makes a function that lists into the list and returns it. See [Komega].
func ObjectList(list client.ObjectList, opts ...client.ListOption) func() (client.ObjectList, error) {
	return current().ObjectList(list, opts...)
}
