package roundtrip_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/operon-dev/operon/pkg/internal/testing/gizmo"
	webhookconversion "github.com/operon-dev/operon/pkg/webhook/conversion"
	"github.com/operon-dev/operon/pkg/webhook/conversion/roundtrip"
)

var fill = []any{
	func(s *gizmo.V1Spec, c randfill.Continue) {
		*s = gizmo.V1Spec{Colour: c.String(8)}
		if c.Bool() {
			s.Size = fmt.Sprintf("%dx%d", c.Int31(), c.Int31())
		}
	},
	func(s *gizmo.V2Spec, c randfill.Continue) {
		*s = gizmo.V2Spec{Width: int(c.Int31()), Height: int(c.Int31()), Colour: c.String(8)}
	},
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := gizmo.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConversionsThatKeepEverythingPass(t *testing.T) {
	roundtrip.Test(t, scheme(t), roundtrip.ByTypes, &gizmo.V2{}, &gizmo.V1{}, roundtrip.Options{Fill: fill, Rounds: 300})
}

func TestConvertersArePutToTheTestAsWell(t *testing.T) {
	s := scheme(t)
	converter, err := webhookconversion.NewHubSpokeConverter(&gizmo.V2{}, webhookconversion.NewSpokeConverter(&gizmo.V1{},
		func(_ context.Context, src *gizmo.V2, dst *gizmo.V1) error { return dst.ConvertFrom(src) },
		func(_ context.Context, src *gizmo.V1, dst *gizmo.V2) error { return src.ConvertTo(dst) },
	))(s)
	if err != nil {
		t.Fatal(err)
	}
	roundtrip.Test(t, s, roundtrip.By(converter), &gizmo.V2{}, &gizmo.V1{}, roundtrip.Options{Fill: fill, Rounds: 100})
}

// The helper ends the goroutine of a test that fails, so its failures are looked at in a process of their own.
func TestALossIsFound(t *testing.T) {
	forgetful := func(src, dst runtime.Object) error {
		err := roundtrip.ByTypes(src, dst)
		if g, ok := dst.(*gizmo.V1); ok {
			g.Spec.Colour = ""
		}
		return err
	}
	if failed := failure(t, func(t *testing.T) {
		roundtrip.Test(t, scheme(t), forgetful, &gizmo.V2{}, &gizmo.V1{}, roundtrip.Options{Fill: fill, Seed: 1})
	}); !failed {
		t.Error("a conversion that loses the colour passes")
	}
}
