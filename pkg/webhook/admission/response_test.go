package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/webhook/admission"
)

func patch(op, path string, value any) jsonpatch.Operation {
	return jsonpatch.NewOperation(op, path, value)
}

func TestResponses(t *testing.T) {
	jsonPatch := admissionv1.PatchTypeJSONPatch
	add := patch("add", "/a", 1)
	for _, tt := range []struct {
		name string
		got  admission.Response
		want admission.Response
	}{
		{"allowed", admission.Allowed(""), response(true, &metav1.Status{Code: 200})},
		{"allowed with a message", admission.Allowed("why not"), response(true, &metav1.Status{Code: 200, Message: "why not"})},
		{"denied", admission.Denied("no"), response(false, &metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "no"})},
		{"errored", admission.Errored(418, errors.New("a teapot")), response(false, &metav1.Status{Code: 418, Message: "a teapot"})},
		{"patched", admission.Patched("changed", add), admission.Response{
			Patches:           []jsonpatch.Operation{add},
			AdmissionResponse: admissionv1.AdmissionResponse{Allowed: true, Result: &metav1.Status{Code: 200, Message: "changed"}},
		}},
		{"patched from raw", admission.PatchResponseFromRaw([]byte(`{"a":1}`), []byte(`{"a":2}`)), admission.Response{
			Patches:           []jsonpatch.Operation{patch("replace", "/a", 2.0)},
			AdmissionResponse: admissionv1.AdmissionResponse{Allowed: true, PatchType: &jsonPatch},
		}},
		{"patched from the same raw", admission.PatchResponseFromRaw([]byte(`{"a":1}`), []byte(` {"a": 1}`)), admission.Response{
			Patches:           []jsonpatch.Operation{},
			AdmissionResponse: admissionv1.AdmissionResponse{Allowed: true},
		}},
		{"warned twice", admission.Allowed("").WithWarnings("a").WithWarnings("b", "c"), admission.Response{
			AdmissionResponse: admissionv1.AdmissionResponse{Allowed: true, Result: &metav1.Status{Code: 200}, Warnings: []string{"a", "b", "c"}},
		}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := admission.PatchResponseFromRaw([]byte(`{`), []byte(`{}`)); got.Allowed || got.Result.Code != 500 {
		t.Errorf("a patch of what is no JSON: %+v", got)
	}
}

func response(allowed bool, result *metav1.Status) admission.Response {
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: allowed, Result: result}}
}

func TestWarningsDoNotReachOtherResponsesOfTheSameOrigin(t *testing.T) {
	base := admission.Allowed("").WithWarnings("a", "b", "c")
	one, two := base.WithWarnings("one"), base.WithWarnings("two")
	if one.Warnings[3] != "one" || two.Warnings[3] != "two" || len(base.Warnings) != 3 {
		t.Errorf("%q, %q and %q", base.Warnings, one.Warnings, two.Warnings)
	}
}

func TestCompleteFillsInWhatIsMissing(t *testing.T) {
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{UID: "u"}}
	r := admission.Response{Patches: []jsonpatch.Operation{patch("remove", "/a", nil)}}
	if err := r.Complete(req); err != nil {
		t.Fatal(err)
	}
	if r.UID != "u" || r.Result.Code != 200 || string(r.Patch) != `[{"op":"remove","path":"/a"}]` || *r.PatchType != admissionv1.PatchTypeJSONPatch {
		t.Errorf("completed to %+v", r)
	}
	r = admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Patch: []byte("[]"), Result: &metav1.Status{Code: 404}}}
	if err := r.Complete(req); err != nil || string(r.Patch) != "[]" || r.Result.Code != 404 {
		t.Errorf("%v, completed to %+v", err, r)
	}
}

func TestOneAnswerServesManyRequests(t *testing.T) {
	same := admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: true, Result: &metav1.Status{Message: "fine"}}}
	hook := &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return same })}
	var requests sync.WaitGroup
	for _, uid := range []types.UID{"a", "b", "c", "d"} {
		requests.Go(func() {
			got := hook.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{UID: uid}})
			if got.UID != uid || got.Result.Code != 200 || got.Result.Message != "fine" {
				t.Errorf("answered %+v", got)
			}
		})
	}
	requests.Wait()
	if same.Result.Code != 0 {
		t.Errorf("the handler's own answer was changed to %+v", same.Result)
	}
}

func TestOfSeveralValidatingHandlersTheFirstToDenyDecides(t *testing.T) {
	warn := func(r admission.Response, warning string) admission.Handler {
		return admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return r.WithWarnings(warning) })
	}
	unreached := admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		t.Error("asked after the decision")
		return admission.Allowed("")
	})
	all := admission.MultiValidatingHandler(warn(admission.Allowed("x"), "a"), warn(admission.Allowed(""), "b"))
	if got := all.Handle(t.Context(), admission.Request{}); !got.Allowed || got.Result.Message != "" || cmp.Diff(got.Warnings, []string{"a", "b"}) != "" {
		t.Errorf("all allow: %+v", got)
	}
	one := admission.MultiValidatingHandler(warn(admission.Allowed(""), "a"), warn(admission.Denied("no"), "b"), unreached)
	if got := one.Handle(t.Context(), admission.Request{}); got.Allowed || got.Result.Message != "no" || cmp.Diff(got.Warnings, []string{"b"}) != "" {
		t.Errorf("one denies: %+v", got)
	}
}

func TestTheOperationsOfSeveralMutatingHandlersBecomeOnePatch(t *testing.T) {
	handler := func(r admission.Response) admission.Handler {
		return admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return r })
	}
	encoded := admission.Allowed("")
	encoded.Patch = []byte(`[{"op":"remove","path":"/c"}]`)
	jsonPatch, other := admissionv1.PatchTypeJSONPatch, admissionv1.PatchType("Merge")
	encoded.PatchType = &jsonPatch
	all := admission.MultiMutatingHandler(
		handler(admission.Patched("", patch("add", "/a", 1)).WithWarnings("w")),
		handler(admission.Allowed("")),
		&admission.Webhook{Handler: handler(admission.Patched("", patch("add", "/b", "x")))},
		handler(encoded),
	)
	got := all.Handle(t.Context(), admission.Request{})
	var operations []map[string]any
	if err := json.Unmarshal(got.Patch, &operations); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"op": "add", "path": "/a", "value": 1.0}, {"op": "add", "path": "/b", "value": "x"}, {"op": "remove", "path": "/c"},
	}
	if diff := cmp.Diff(want, operations); diff != "" || !got.Allowed || got.Warnings[0] != "w" {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}

	denies := admission.MultiMutatingHandler(handler(encoded), handler(admission.Denied("no")))
	if got := denies.Handle(t.Context(), admission.Request{}); got.Allowed || got.Patch != nil {
		t.Errorf("one denies: %+v", got)
	}
	encoded.PatchType = &other
	if got := admission.MultiMutatingHandler(handler(encoded)).Handle(t.Context(), admission.Request{}); got.Allowed || got.Result.Code != 500 {
		t.Errorf("a patch of another type: %+v", got)
	}
}
