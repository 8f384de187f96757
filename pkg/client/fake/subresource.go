package fake

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// subResourceClient is the client of one subresource.
type subResourceClient struct {
	server *server
	name   string
}

var _ client.SubResourceClient = (*subResourceClient)(nil)

// wholeSubresources are those of Kubernetes' kinds through which the object itself is written.
var wholeSubresources = map[schema.GroupKind][]string{
	{Kind: "Pod"}:       {"resize", "ephemeralcontainers"},
	{Kind: "Namespace"}: {"finalize"},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {"approval"},
}

// begin returns the kind of obj if it has the subresource, or NotFound. Of kinds that nothing is known about, any
// subresource but status and scale is taken for one through which the object itself is written.
func (c *subResourceClient) begin(ctx context.Context, obj client.Object) (*kind, error) {
	if err := alive(ctx); err != nil {
		return nil, err
	}
	k, err := c.server.kinds.of(obj)
	if err != nil {
		return nil, err
	}
	return k, k.offers(c.name, keyOf(obj))
}

func (k *kind) offers(subresource string, key types.NamespacedName) error {
	offered := !k.builtin && k.definition == nil
	switch subresource {
	case "status":
		offered = k.has(hasStatus)
	case "scale":
		offered = k.has(hasScale) || k.definition != nil && k.definition.Scale != nil
	case "eviction", "binding":
		offered = k.GroupKind() == schema.GroupKind{Kind: "Pod"}
	case "token":
		offered = k.GroupKind() == schema.GroupKind{Kind: "ServiceAccount"}
	default:
		for _, name := range wholeSubresources[k.GroupKind()] {
			offered = offered || name == subresource
		}
	}
	if offered {
		return nil
	}
	err := apierrors.NewNotFound(k.resource, key.Name)
	if subresource == "scale" && k.goType != nil {
		err.ErrStatus.Message = fmt.Sprintf("*%s has no scale subresource", k.goType)
	}
	return err
}

func notFound(k *kind, key types.NamespacedName) error {
	return apierrors.NewNotFound(k.resource, key.Name)
}

func (k *kind) nameless() error {
	return apierrors.NewInvalid(k.GroupKind(), "", fieldRequired("name is required", "metadata", "name"))
}

// notAllowed is what a server says to a verb that a subresource does not have.
func (c *subResourceClient) notAllowed(verb string) error {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, verb, schema.GroupResource{}, c.name,
		fmt.Sprintf("subresource %s does not support %s", c.name, verb), 0, false)
}

func (c *subResourceClient) Get(ctx context.Context, obj, subResource client.Object, _ ...client.SubResourceGetOption) error {
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	switch c.name {
	case "scale", "status":
	default:
		return c.notAllowed("get")
	}
	e, err := c.server.read(k, keyOf(obj))
	if err != nil {
		return err
	}
	if c.name == "scale" {
		return c.server.answerScale(k, e, subResource)
	}
	return c.server.answer(k, e, subResource)
}

func (c *subResourceClient) Create(ctx context.Context, obj, subResource client.Object, opts ...client.SubResourceCreateOption) error {
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	sent := (&client.SubResourceCreateOptions{}).ApplyOptions(opts).AsCreateOptions()
	switch c.name {
	case "eviction":
		return c.server.evict(k, keyOf(obj), subResource, sent.DryRun)
	case "binding":
		return c.server.bind(k, keyOf(obj), subResource, sent.DryRun)
	case "token":
		return c.server.issueToken(k, keyOf(obj), subResource)
	default:
		return c.notAllowed("create")
	}
}

func (c *subResourceClient) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	options := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts)
	sent := options.AsUpdateOptions()
	o := writeOptions{dryRun: dry(sent.DryRun), manager: sent.FieldManager, subresource: c.name}
	switch c.name {
	case "scale":
		if options.SubResourceBody == nil {
			return apierrors.NewBadRequest("missing SubResourceBody")
		}
		return c.server.updateScale(k, keyOf(obj), options.SubResourceBody, o)
	case "eviction", "binding", "token":
		return c.notAllowed("update")
	}
	body, err := c.body(k, obj, options.SubResourceBody)
	if err != nil {
		return err
	}
	return c.server.replace(k, keyOf(obj), body, body, o)
}

// body returns what is sent: obj, or the body given beside it, which then goes by the name of obj unless it has its own.
func (c *subResourceClient) body(k *kind, obj, given client.Object) (client.Object, error) {
	if given == nil {
		return obj, nil
	}
	of, err := c.server.kinds.of(given)
	if err != nil {
		return nil, err
	}
	if of.GroupKind() != k.GroupKind() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the body of subresource %s is a %s, expected %s", c.name, of.Kind, k.Kind))
	}
	if given.GetName() == "" {
		given.SetName(obj.GetName())
	}
	if given.GetNamespace() == "" {
		given.SetNamespace(obj.GetNamespace())
	}
	return given, nil
}

func (c *subResourceClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if patch == nil {
		return errNoPatch
	}
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	options := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
	sent := options.AsPatchOptions()
	switch c.name {
	case "scale":
		return c.server.patchScale(k, obj, options.SubResourceBody, patch, sent)
	case "eviction", "binding", "token":
		return c.notAllowed("patch")
	}
	body := obj
	if options.SubResourceBody != nil {
		body = options.SubResourceBody
	}
	return c.server.patch(k, keyOf(obj), body, patch, sent, c.name)
}

func (c *subResourceClient) Apply(ctx context.Context, config runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	if err := alive(ctx); err != nil {
		return err
	}
	options := (&client.SubResourceApplyOptions{}).ApplyOpts(opts)
	named, err := c.server.kinds.applied(config)
	if err != nil {
		return err
	}
	if err := named.kind.offers(c.name, keyOf(named.Unstructured)); err != nil {
		return err
	}
	sent := options.AsPatchOptions()
	fields := config
	if options.SubResourceBody != nil {
		fields = options.SubResourceBody
	}
	switch c.name {
	case "scale":
		return c.server.applyScale(named, config, fields, sent)
	case "eviction", "binding", "token":
		return c.notAllowed("patch")
	}
	return c.server.applyTo(fields, fields, sent, c.name)
}
