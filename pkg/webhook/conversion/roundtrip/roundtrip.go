// Package roundtrip tests that conversions between the versions of a kind lose nothing.
//
// [Test] fills objects with random contents, converts each to the other
// version and back, and fails the test where the result is another object than at the start.
// The conversion is a [Func]: [ByTypes] for Go types that implement
// conversion.Hub and conversion.Convertible, [By] for a Converter.
//
//	func TestConversionLosesNothing(t *testing.T) {
//		roundtrip.Test(t, scheme, roundtrip.ByTypes, &v2.Memcached{}, &v1.Memcached{}, roundtrip.Options{})
//	}
//
// # Guarantees
//
// A failure names the seed, and the same seed gives the same objects. Empty and missing lists and maps
// count as equal, as they are the same to API servers in most places.
//
// # What is not guaranteed
//
// Values are random, not valid: a version that holds numbers as text, say,
// needs a Fill function that makes sensible text, or the conversion will fail.
package roundtrip

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/operon-dev/operon/pkg/conversion"
	webhookconversion "github.com/operon-dev/operon/pkg/webhook/conversion"
)

const defaultRounds = 1000

// Func converts src into dst, an empty object of another version.
type Func func(src, dst runtime.Object) error

// ByTypes converts by what the Go types implement. One of the two is the hub.
func ByTypes(src, dst runtime.Object) error {
	if hub, ok := dst.(conversion.Hub); ok {
		if spoke, ok := src.(conversion.Convertible); ok {
			return spoke.ConvertTo(hub)
		}
	}
	if hub, ok := src.(conversion.Hub); ok {
		if spoke, ok := dst.(conversion.Convertible); ok {
			return spoke.ConvertFrom(hub)
		}
	}
	return fmt.Errorf("%T and %T are not a hub and a version that is convertible", src, dst)
}

// By converts with a Converter, such as webhook/conversion.NewHubSpokeConverter makes.
func By(converter webhookconversion.Converter) Func {
	return func(src, dst runtime.Object) error { return converter.ConvertObject(context.Background(), src, dst) }
}

// Options set up a test.
type Options struct {
	// Fill are functions func(*T, randfill.Continue), each of which fills values
	// of one type T. Values of other types are filled at random.
	Fill []any

	// Rounds is how many objects of each version are tried. Zero means 1000.
	Rounds int

	// Seed is what the contents come from. Zero means another one each time.
	Seed int64
}

// Test converts objects of the type of a to the type of b and back, and the other way round.
func Test(t *testing.T, scheme *runtime.Scheme, convert Func, a, b runtime.Object, options Options) {
	t.Helper()
	if options.Rounds == 0 {
		options.Rounds = defaultRounds
	}
	if options.Seed == 0 {
		options.Seed = time.Now().UnixNano()
	}
	there(t, scheme, convert, a, b, options)
	there(t, scheme, convert, b, a, options)
}

// there converts objects of one type to another and back.
func there(t *testing.T, scheme *runtime.Scheme, convert Func, one, other runtime.Object, options Options) {
	t.Helper()
	own := func(serializer.CodecFactory) []any { return options.Fill }
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, own), rand.NewSource(options.Seed), serializer.NewCodecFactory(scheme))
	for range options.Rounds {
		before := empty(t, scheme, one)
		kind := before.GetObjectKind().GroupVersionKind()
		filler.Fill(before)
		before.GetObjectKind().SetGroupVersionKind(kind)
		sent := before.DeepCopyObject()

		between, after := empty(t, scheme, other), empty(t, scheme, one)
		if err := convert(sent, between); err != nil {
			t.Fatalf("%T to %T (seed %d): %v", one, other, options.Seed, err)
		}
		if err := convert(between, after); err != nil {
			t.Fatalf("%T back to %T (seed %d): %v", other, one, options.Seed, err)
		}
		// A conversion that copies whole objects copies the version along.
		after.GetObjectKind().SetGroupVersionKind(kind)
		if diff := cmp.Diff(before, after, cmpopts.EquateEmpty(), exportAll); diff != "" {
			t.Fatalf("%T to %T and back is another object (seed %d, -before +after):\n%s", one, other, options.Seed, diff)
		}
		if diff := cmp.Diff(before, sent, cmpopts.EquateEmpty(), exportAll); diff != "" {
			t.Fatalf("%T to %T changes what it converts (seed %d, -before +after):\n%s", one, other, options.Seed, diff)
		}
	}
}

// exportAll compares unexported fields, too: quantities and times have methods of their own for that.
var exportAll = cmp.Exporter(func(reflect.Type) bool { return true })

func empty(t *testing.T, scheme *runtime.Scheme, like runtime.Object) runtime.Object {
	t.Helper()
	kinds, _, err := scheme.ObjectKinds(like)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := scheme.New(kinds[0])
	if err != nil {
		t.Fatal(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(kinds[0])
	return obj
}
