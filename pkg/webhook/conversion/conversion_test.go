package conversion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/internal/testing/gizmo"
	"github.com/operon-dev/operon/pkg/webhook/conversion"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// v0 is another version that converts itself through the hub.
type v0 struct{ gizmo.V1 }

func (g *v0) DeepCopyObject() runtime.Object { return &v0{*g.V1.DeepCopyObject().(*gizmo.V1)} }

// stray is a version that cannot be converted.
type stray struct{ gizmo.V2Spec }

func (*stray) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }
func (*stray) DeepCopyObject() runtime.Object   { return &stray{} }

// twin is a second hub.
type twin struct{ gizmo.V2 }

func (*twin) DeepCopyObject() runtime.Object { return &twin{} }

func kind(version string) schema.GroupVersionKind { return gizmo.GroupKind.WithVersion(version) }

func scheme(versions map[string]runtime.Object) *runtime.Scheme {
	s := runtime.NewScheme()
	for version, obj := range versions {
		s.AddKnownTypeWithName(kind(version), obj)
	}
	return s
}

func all() *runtime.Scheme {
	return scheme(map[string]runtime.Object{"v0": &v0{}, "v1": &gizmo.V1{}, "v2": &gizmo.V2{}})
}

func TestAKindIsConvertibleWhenAllVersionsLeadToOneHub(t *testing.T) {
	hub, spoke := &gizmo.V2{}, &gizmo.V1{}
	for name, tt := range map[string]struct {
		versions map[string]runtime.Object
		ask      runtime.Object
		want     bool
		err      string
	}{
		"a hub and its spokes":          {map[string]runtime.Object{"v0": &v0{}, "v1": spoke, "v2": hub}, hub, true, ""},
		"the same, asked of a spoke":    {map[string]runtime.Object{"v0": &v0{}, "v1": spoke, "v2": hub}, spoke, true, ""},
		"one version":                   {map[string]runtime.Object{"v2": hub}, hub, false, ""},
		"versions that do not convert":  {map[string]runtime.Object{"v1": &stray{}, "v2": &stray{}}, &stray{}, false, ""},
		"no hub":                        {map[string]runtime.Object{"v0": &v0{}, "v1": spoke}, spoke, false, "is the hub"},
		"two hubs":                      {map[string]runtime.Object{"v2": hub, "v3": &twin{}}, hub, false, "2 versions of " + gizmo.GroupKind.String() + " are hubs"},
		"a version that is left behind": {map[string]runtime.Object{"v1": spoke, "v2": hub, "v3": &stray{}}, hub, false, "1 versions of " + gizmo.GroupKind.String() + " are neither the hub nor"},
	} {
		got, err := conversion.IsConvertible(scheme(tt.versions), tt.ask)
		var partial conversion.PartialImplementationError
		if got != tt.want || (err != nil) != (tt.err != "") || err != nil && (!errors.As(err, &partial) || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := conversion.IsConvertible(scheme(nil), hub); err == nil {
		t.Error("a type that the scheme does not know has an answer")
	}
}

// byTypes converts by Go types, byRegistry with a Converter. They must not differ.
func handlers(t *testing.T) map[string]http.Handler {
	t.Helper()
	s := all()
	converter, err := conversion.NewHubSpokeConverter(&gizmo.V2{},
		conversion.NewSpokeConverter(&gizmo.V1{},
			func(_ context.Context, src *gizmo.V2, dst *gizmo.V1) error { return dst.ConvertFrom(src) },
			func(_ context.Context, src *gizmo.V1, dst *gizmo.V2) error { return src.ConvertTo(dst) }),
		conversion.NewSpokeConverter(&v0{},
			func(_ context.Context, src *gizmo.V2, dst *v0) error { return dst.ConvertFrom(src) },
			func(_ context.Context, src *v0, dst *gizmo.V2) error { return src.ConvertTo(dst) }),
	)(s)
	if err != nil {
		t.Fatal(err)
	}
	registry := conversion.NewRegistry()
	if err := registry.RegisterConverter(gizmo.GroupKind, converter); err != nil {
		t.Fatal(err)
	}
	if err := registry.RegisterConverter(gizmo.GroupKind, converter); err == nil {
		t.Error("a kind has two converters")
	}
	return map[string]http.Handler{
		"types":    conversion.NewWebhookHandler(s, conversion.NewRegistry()),
		"registry": conversion.NewWebhookHandler(s, registry),
	}
}

func object(version, rest string) string {
	return fmt.Sprintf(`{"kind":"Gizmo","apiVersion":"%s/%s","metadata":{"name":"g"},"spec":{%s}}`, gizmo.Group, version, rest)
}

func question(desired string, objects ...string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"%s/%s","objects":[%s]}}`,
		gizmo.Group, desired, strings.Join(objects, ","))
}

func post(h http.Handler, body io.Reader, contentType string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/convert", body)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestObjectsAreConverted(t *testing.T) {
	for name, h := range handlers(t) {
		for _, tt := range []struct {
			what    string
			desired string
			objects []string
			want    []string
			failure string
		}{
			{"to the hub", "v2", []string{object("v1", `"size":"3x4"`)}, []string{object("v2", `"width":3,"height":4`)}, ""},
			{"from the hub", "v1", []string{object("v2", `"width":3,"height":4`)}, []string{object("v1", `"size":"3x4"`)}, ""},
			{"through the hub", "v0", []string{object("v1", `"size":"3x4"`)}, []string{object("v0", `"size":"3x4"`)}, ""},
			{"several, of several versions", "v2", []string{object("v1", `"size":"1x2"`), object("v0", `"size":"3x4"`)},
				[]string{object("v2", `"width":1,"height":2`), object("v2", `"width":3,"height":4`)}, ""},
			{"none", "v2", nil, nil, ""},
			{"one that fails fails all", "v2", []string{object("v1", `"size":"1x2"`), object("v1", `"size":"huge"`)}, nil, `size "huge"`},
			{"to its own version", "v1", []string{object("v1", ``)}, nil, "nothing to convert: *gizmo.V1 is of the wanted version already"},
			{"to a version that nobody knows", "v9", []string{object("v1", ``)}, nil, `no kind "Gizmo" is registered`},
			{"of a version that nobody knows", "v1", []string{object("v9", ``)}, nil, `no kind "Gizmo" is registered`},
			{"of no object", "v1", []string{`null`}, nil, "Object 'Kind' is missing"},
			{"of a damaged object", "v2", []string{object("v1", `"size":7`)}, nil, "cannot unmarshal number"},
		} {
			w := post(h, strings.NewReader(question(tt.desired, tt.objects...)), "application/json")
			var review apiextensionsv1.ConversionReview
			if err := json.Unmarshal(w.Body.Bytes(), &review); err != nil || w.Code != http.StatusOK || review.Response == nil || review.Response.UID != "u" {
				t.Errorf("%s, %s: answered %d %s", name, tt.what, w.Code, w.Body)
				continue
			}
			var got []string
			for _, o := range review.Response.ConvertedObjects {
				got = append(got, string(o.Raw))
			}
			if strings.Join(got, ";") != strings.Join(tt.want, ";") {
				t.Errorf("%s, %s: converted to %q, want %q", name, tt.what, got, tt.want)
			}
			if result := review.Response.Result; (result.Status == "Success") != (tt.failure == "") || !strings.Contains(result.Message, tt.failure) {
				t.Errorf("%s, %s: result %+v", name, tt.what, result)
			}
		}
	}
}

func TestWhatIsNoQuestionIsAnHTTPError(t *testing.T) {
	h := conversion.NewWebhookHandler(all(), conversion.NewRegistry())
	for _, tt := range []struct {
		body, contentType string
		code              int
		want              string
	}{
		{``, "application/json", 400, "the request has no body"},
		{`{`, "application/json", 400, "unexpected end of JSON input"},
		{`{}`, "application/json", 400, "the ConversionReview holds no request"},
		{`{"apiVersion":"v1","kind":"Pod"}`, "", 400, "expected kind ConversionReview"},
		{question("v1"), "text/plain", 415, `the content type is "text/plain"`},
	} {
		w := post(h, strings.NewReader(tt.body), tt.contentType)
		if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%q as %q is answered with %d %s", tt.body, tt.contentType, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Body = nil
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest {
		t.Errorf("no body at all is answered with %d", w.Code)
	}
	if w := post(h, strings.NewReader(question("v1")), ""); w.Code != http.StatusOK {
		t.Errorf("without a content type: %d %s", w.Code, w.Body)
	}
}

// converterFunc is a Converter.
type converterFunc func(src, dst runtime.Object) error

func (f converterFunc) ConvertObject(_ context.Context, src, dst runtime.Object) error {
	return f(src, dst)
}

func TestThePanicOfAConversionIsAFailure(t *testing.T) {
	registry := conversion.NewRegistry()
	if err := registry.RegisterConverter(gizmo.GroupKind, converterFunc(func(_, _ runtime.Object) error { panic("oh no") })); err != nil {
		t.Fatal(err)
	}
	w := post(conversion.NewWebhookHandler(all(), registry), strings.NewReader(question("v2", object("v1", ``))), "")
	if want := `"status":"Failure","message":"internal error: the conversion panicked, see the webhook's log"`; w.Code != 200 || !strings.Contains(w.Body.String(), want) {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

func TestAConverterNeedsOneSpokeForEachVersion(t *testing.T) {
	v1 := conversion.NewSpokeConverter(&gizmo.V1{},
		func(context.Context, *gizmo.V2, *gizmo.V1) error { return nil }, func(context.Context, *gizmo.V1, *gizmo.V2) error { return nil })
	two := scheme(map[string]runtime.Object{"v1": &gizmo.V1{}, "v2": &gizmo.V2{}})
	for name, tt := range map[string]struct {
		scheme *runtime.Scheme
		spokes []conversion.SpokeConverter[*gizmo.V2]
		err    string
	}{
		"one each":        {two, []conversion.SpokeConverter[*gizmo.V2]{v1}, ""},
		"one missing":     {all(), []conversion.SpokeConverter[*gizmo.V2]{v1}, "the spokes must be of the versions [v0,v1], they are of [v1]"},
		"one twice":       {two, []conversion.SpokeConverter[*gizmo.V2]{v1, v1}, "version v1 has more than one spoke"},
		"an unknown one":  {scheme(map[string]runtime.Object{"v2": &gizmo.V2{}}), []conversion.SpokeConverter[*gizmo.V2]{v1}, "type of a spoke"},
		"an unknown hub":  {scheme(nil), nil, "type of the hub"},
		"a hub all alone": {scheme(map[string]runtime.Object{"v2": &gizmo.V2{}}), nil, ""},
	} {
		_, err := conversion.NewHubSpokeConverter(&gizmo.V2{}, tt.spokes...)(tt.scheme)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzConversionAlwaysAnswers(f *testing.F) {
	f.Add([]byte(question("v2", object("v1", `"size":"3x4"`), object("v0", ``))))
	f.Add([]byte(question("v1", object("v2", `"width":1`), `{}`)))
	f.Add([]byte(`{"request":{"objects":[{}]}}`))
	h := conversion.NewWebhookHandler(all(), conversion.NewRegistry())
	f.Fuzz(func(t *testing.T, body []byte) {
		w := post(h, strings.NewReader(string(body)), "application/json")
		if w.Code == http.StatusBadRequest {
			return
		}
		var review apiextensionsv1.ConversionReview
		if err := json.Unmarshal(w.Body.Bytes(), &review); err != nil || review.Response == nil || w.Code != http.StatusOK {
			t.Fatalf("answered %d %s (%v)", w.Code, w.Body, err)
		}
		if strings.Contains(review.Response.Result.Message, "internal error") {
			t.Fatalf("%s panics", body)
		}
	})
}
