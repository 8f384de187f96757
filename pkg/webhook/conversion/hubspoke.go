package conversion

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// SpokeConverter converts between one version of a kind and the hub.
type SpokeConverter[hubObject runtime.Object] interface {
	// GetSpoke returns an object of the version, which tells its type.
	GetSpoke() runtime.Object

	// ConvertHubToSpoke writes the hub into a spoke.
	ConvertHubToSpoke(ctx context.Context, hub hubObject, spoke runtime.Object) error

	// ConvertSpokeToHub writes a spoke into the hub.
	ConvertSpokeToHub(ctx context.Context, spoke runtime.Object, hub hubObject) error
}

// NewSpokeConverter makes a SpokeConverter of two functions. Each writes src into dst.
func NewSpokeConverter[hubObject, spokeObject client.Object](
	spoke spokeObject,
	convertHubToSpokeFunc func(ctx context.Context, src hubObject, dst spokeObject) error,
	convertSpokeToHubFunc func(ctx context.Context, src spokeObject, dst hubObject) error,
) SpokeConverter[hubObject] {
	return spokeFuncs[hubObject, spokeObject]{spoke: spoke, fromHub: convertHubToSpokeFunc, toHub: convertSpokeToHubFunc}
}

type spokeFuncs[hubObject, spokeObject client.Object] struct {
	spoke   spokeObject
	fromHub func(context.Context, hubObject, spokeObject) error
	toHub   func(context.Context, spokeObject, hubObject) error
}

// GetSpoke implements SpokeConverter.
func (s spokeFuncs[hubObject, spokeObject]) GetSpoke() runtime.Object { return s.spoke }

// ConvertHubToSpoke implements SpokeConverter.
func (s spokeFuncs[hubObject, spokeObject]) ConvertHubToSpoke(ctx context.Context, hub hubObject, spoke runtime.Object) error {
	return s.fromHub(ctx, hub, spoke.(spokeObject))
}

// ConvertSpokeToHub implements SpokeConverter.
func (s spokeFuncs[hubObject, spokeObject]) ConvertSpokeToHub(ctx context.Context, spoke runtime.Object, hub hubObject) error {
	return s.toHub(ctx, spoke.(spokeObject), hub)
}

// NewHubSpokeConverter makes the constructor of a converter for a kind, for
// builder.WebhookBuilder.WithConverter. There must be one SpokeConverter for
// each version in the scheme other than the hub's. The constructor fails if one is missing or there is one too many.
func NewHubSpokeConverter[hubObject runtime.Object](hub hubObject, spokeConverter ...SpokeConverter[hubObject]) func(scheme *runtime.Scheme) (Converter, error) {
	return func(scheme *runtime.Scheme) (Converter, error) {
		hubKind, err := apiutil.GVKForObject(hub, scheme)
		if err != nil {
			return nil, fmt.Errorf("converter: type of the hub: %w", err)
		}
		c := &hubSpokes[hubObject]{scheme: scheme, hub: hubKind, spokes: map[schema.GroupVersionKind]SpokeConverter[hubObject]{}}
		for _, spoke := range spokeConverter {
			if err := c.add(spoke); err != nil {
				return nil, fmt.Errorf("converter of %s: %w", hubKind.Kind, err)
			}
		}
		if err := c.complete(); err != nil {
			return nil, fmt.Errorf("converter of %s: %w", hubKind.Kind, err)
		}
		return c, nil
	}
}

type hubSpokes[hubObject runtime.Object] struct {
	scheme *runtime.Scheme
	hub    schema.GroupVersionKind
	spokes map[schema.GroupVersionKind]SpokeConverter[hubObject]
}

func (c *hubSpokes[hubObject]) add(spoke SpokeConverter[hubObject]) error {
	kind, err := apiutil.GVKForObject(spoke.GetSpoke(), c.scheme)
	switch {
	case err != nil:
		return fmt.Errorf("type of a spoke: %w", err)
	case kind.GroupKind() != c.hub.GroupKind():
		return fmt.Errorf("a spoke is of %s, the hub of %s: they must be versions of one kind", kind.GroupKind(), c.hub.GroupKind())
	case kind == c.hub:
		return fmt.Errorf("the hub, %s, cannot be a spoke", kind.Version)
	}
	if _, taken := c.spokes[kind]; taken {
		return fmt.Errorf("version %s has more than one spoke", kind.Version)
	}
	c.spokes[kind] = spoke
	return nil
}

// complete checks that there is a converter for each version.
func (c *hubSpokes[hubObject]) complete() error {
	var want, got []string
	for kind := range c.scheme.AllKnownTypes() {
		if kind.GroupKind() == c.hub.GroupKind() && kind != c.hub && kind.Version != runtime.APIVersionInternal {
			want = append(want, kind.Version)
		}
	}
	for kind := range c.spokes {
		got = append(got, kind.Version)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("the spokes must be of the versions [%s], they are of [%s]", strings.Join(want, ","), strings.Join(got, ","))
	}
	return nil
}

// ConvertObject implements Converter.
func (c *hubSpokes[hubObject]) ConvertObject(ctx context.Context, src, dst runtime.Object) error {
	from, err := apiutil.GVKForObject(src, c.scheme)
	if err != nil {
		return err
	}
	to, err := apiutil.GVKForObject(dst, c.scheme)
	if err != nil {
		return err
	}
	if from == to {
		return fmt.Errorf("nothing to convert: %T is of the wanted version already", src)
	}
	hub, srcIsHub := src.(hubObject)
	if !srcIsHub {
		spoke, ok := c.spokes[from]
		if !ok {
			return fmt.Errorf("there is no converter for %s", from)
		}
		var dstIsHub bool
		if hub, dstIsHub = dst.(hubObject); dstIsHub {
			return spoke.ConvertSpokeToHub(ctx, src, hub)
		}
		hub = reflect.New(reflect.TypeFor[hubObject]().Elem()).Interface().(hubObject)
		hub.GetObjectKind().SetGroupVersionKind(c.hub)
		if err := spoke.ConvertSpokeToHub(ctx, src, hub); err != nil {
			return fmt.Errorf("%T to the hub %T: %w", src, hub, err)
		}
	}
	spoke, ok := c.spokes[to]
	if !ok {
		return fmt.Errorf("there is no converter for %s", to)
	}
	return spoke.ConvertHubToSpoke(ctx, hub, dst)
}
