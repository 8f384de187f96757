package komega

import (
	"context"

	"github.com/operon-dev/operon/pkg/client"
)

// Komega makes functions that read or write objects.
type Komega interface {
	// Get makes a function that reads the object and returns the error.
	//
	//	Eventually(k.Get(deployment)).Should(Succeed())
	Get(client.Object) func() error

	// List makes a function that lists into the list and returns the error.
	List(client.ObjectList, ...client.ListOption) func() error

	// Update makes a function that reads the object, calls f, which changes it, and writes it.
	//
	//	Eventually(k.Update(deployment, func() { deployment.Spec.Paused = true })).Should(Succeed())
	Update(client.Object, func(), ...client.UpdateOption) func() error

	// UpdateStatus is Update for the status subresource.
	UpdateStatus(client.Object, func(), ...client.SubResourceUpdateOption) func() error

	// Object makes a function that reads the object and returns it.
	//
	//	Eventually(k.Object(deployment)).Should(HaveField("Status.ReadyReplicas", BeEquivalentTo(3)))
	Object(client.Object) func() (client.Object, error)

	// ObjectList makes a function that lists into the list and returns it.
	//
	//	Eventually(k.ObjectList(&pods)).Should(HaveField("Items", HaveLen(3)))
	ObjectList(client.ObjectList, ...client.ListOption) func() (client.ObjectList, error)

	// WithContext returns a Komega whose functions use the context.
	WithContext(context.Context) Komega
}

// New returns a Komega that uses the client, and a context that does not end.
func New(c client.Client) Komega { return komega{client: c, ctx: context.Background()} }

// komega keeps a context because the functions it makes are called by Gomega, which passes none.
type komega struct {
	client client.Client
	ctx    context.Context
}

func (k komega) WithContext(ctx context.Context) Komega {
	k.ctx = ctx
	return k
}

func (k komega) Get(obj client.Object) func() error {
	key := client.ObjectKeyFromObject(obj)
	return func() error { return k.client.Get(k.ctx, key, obj) }
}

func (k komega) List(list client.ObjectList, opts ...client.ListOption) func() error {
	return func() error { return k.client.List(k.ctx, list, opts...) }
}

func (k komega) Update(obj client.Object, f func(), opts ...client.UpdateOption) func() error {
	return k.change(obj, f, func() error { return k.client.Update(k.ctx, obj, opts...) })
}

func (k komega) UpdateStatus(obj client.Object, f func(), opts ...client.SubResourceUpdateOption) func() error {
	return k.change(obj, f, func() error { return k.client.Status().Update(k.ctx, obj, opts...) })
}

// change makes a function that reads, changes and writes.
func (k komega) change(obj client.Object, f func(), write func() error) func() error {
	read := k.Get(obj)
	return func() error {
		if err := read(); err != nil {
			return err
		}
		f()
		return write()
	}
}

func (k komega) Object(obj client.Object) func() (client.Object, error) {
	read := k.Get(obj)
	return func() (client.Object, error) { return obj, read() }
}

func (k komega) ObjectList(list client.ObjectList, opts ...client.ListOption) func() (client.ObjectList, error) {
	read := k.List(list, opts...)
	return func() (client.ObjectList, error) { return list, read() }
}
