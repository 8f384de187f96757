package admission_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/operon-dev/operon/pkg/webhook/admission"
)

// operation is a request with an object, an old one, or both.
func operation(op admissionv1.Operation, object, old string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "u", Operation: op,
		Object: runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}}
}

func TestAValidatorIsAskedWhatIsDone(t *testing.T) {
	for _, tt := range []struct {
		op          admissionv1.Operation
		object, old string
		want        string
	}{
		{admissionv1.Create, `{"name":"a"}`, ``, "create a"},
		{admissionv1.Update, `{"name":"a"}`, `{"name":"b"}`, "update b to a"},
		{admissionv1.Delete, ``, `{"name":"b"}`, "delete b"},
		{admissionv1.Connect, `{"name":"options"}`, ``, ""},
	} {
		var asked string
		v := judge{asked: func(ctx context.Context, what string) {
			asked = what
			if req, err := admission.RequestFromContext(ctx); err != nil || req.Operation != tt.op {
				t.Errorf("%s: request %+v, error %v", tt.op, req, err)
			}
		}}
		r := admission.WithValidator(scheme(), v).Handle(t.Context(), operation(tt.op, tt.object, tt.old))
		if !r.Allowed || r.UID != "u" || asked != tt.want {
			t.Errorf("%s: asked %q, want %q; answered %+v", tt.op, asked, tt.want, r)
		}
	}
}

func TestWhatAValidatorSaysIsTheAnswer(t *testing.T) {
	for name, want := range map[string]admissionv1.AdmissionResponse{
		"good":     {Allowed: true, Result: &metav1.Status{Code: 200}},
		"doubtful": {Allowed: true, Result: &metav1.Status{Code: 200}, Warnings: []string{"one", "two"}},
		"bad":      {Result: &metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "it is bad"}, Warnings: []string{"careful"}},
		"gone":     {Result: &metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired, Message: "it is gone"}},
		"panics":   {Result: &metav1.Status{Code: 500, Message: "panic: no [recovered]"}},
	} {
		want.UID = "u"
		object := `{"name":"` + name + `"}`
		for _, op := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update, admissionv1.Delete} {
			r := admission.WithValidator(scheme(), judge{}).Handle(t.Context(), operation(op, object, object))
			if diff := cmp.Diff(want, r.AdmissionResponse); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", op, name, diff)
			}
		}
	}
}

func TestWhatCannotBeJudgedIsABadRequest(t *testing.T) {
	for _, tt := range []struct {
		req  admission.Request
		want string
	}{
		{operation(admissionv1.Create, ``, ``), "no object to decode: a creation has no old one, a deletion no new one"},
		{operation(admissionv1.Update, `{}`, ``), "no object to decode: a creation has no old one, a deletion no new one"},
		{operation(admissionv1.Update, ``, `{}`), "no object to decode: a creation has no old one, a deletion no new one"},
		{operation(admissionv1.Delete, `{}`, ``), "no object to decode: a creation has no old one, a deletion no new one"},
		{operation(admissionv1.Create, `{"total":"much"}`, ``), "json: cannot unmarshal string into Go struct field thing.total of type int"},
		{operation("PATCH", `{}`, ``), `there is no validation for operation "PATCH"`},
		{operation("", `{}`, ``), `there is no validation for operation ""`},
	} {
		r := admission.WithValidator(scheme(), judge{}).Handle(t.Context(), tt.req)
		if r.Allowed || r.Result.Code != 400 || r.Result.Message != tt.want {
			t.Errorf("%s %s: answered %+v, want %s", tt.req.Operation, tt.req.Object.Raw, r.Result, tt.want)
		}
	}
}

func TestTheDecoderTakesNoOtherKind(t *testing.T) {
	var pod corev1.Pod
	err := admission.NewDecoder(clientgoscheme.Scheme).Decode(create(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`), &pod)
	if err == nil || !strings.Contains(err.Error(), "Kind=Node into *v1.Pod") {
		t.Errorf("a Node into a Pod: %v, %v", pod.Name, err)
	}
}

func TestTheDecoderTakesAnyFormOfObject(t *testing.T) {
	decoder := admission.NewDecoder(scheme())
	const raw = `{"apiVersion":"things.operon.test/v1","kind":"Thing","name":"n","replicas":9007199254740993,"metadata":{"name":"m"}}`
	req := create(raw)

	var typed thing
	if err := decoder.Decode(req, &typed); err != nil || typed.Name != "n" || typed.Replicas != 9007199254740993 {
		t.Errorf("typed: %+v, %v", typed, err)
	}
	var u unstructured.Unstructured
	if err := decoder.Decode(req, &u); err != nil || u.GetKind() != "Thing" || u.Object["replicas"] != int64(9007199254740993) {
		t.Errorf("unstructured: %v, %v", u.Object, err)
	}
	var metadata metav1.PartialObjectMetadata
	if err := decoder.Decode(req, &metadata); err != nil || metadata.Name != "m" {
		t.Errorf("metadata: %v, %v", metadata, err)
	}
	if err := decoder.DecodeRaw(runtime.RawExtension{Raw: []byte(`{"name":"x"}`)}, &typed); err != nil || typed.Name != "x" {
		t.Errorf("without a kind: %+v, %v", typed, err)
	}
	for _, bad := range []string{``, `{`, `[]`, `{"apiVersion":"things.operon.test/v1","kind":"Other"}`} {
		if err := decoder.DecodeRaw(runtime.RawExtension{Raw: []byte(bad)}, &typed); err == nil {
			t.Errorf("decoded %q", bad)
		}
	}
	if err := decoder.DecodeRaw(runtime.RawExtension{Raw: []byte(`[]`)}, &u); err == nil {
		t.Error("decoded a list into an unstructured object")
	}
}
