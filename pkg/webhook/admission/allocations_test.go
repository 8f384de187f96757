package admission_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/operon-dev/operon/pkg/webhook/admission"
)

// A review is decoded once and so is its object: nothing passes over them in search of their kinds. The ceiling leaves a
// little above what it takes.
func TestAValidatorsAnswerTakesFewAllocations(t *testing.T) {
	body, err := os.ReadFile("testdata/review.json")
	if err != nil {
		t.Fatal(err)
	}
	hook := admission.WithValidator(scheme(), judge{})
	var answer []byte
	got := testing.AllocsPerRun(50, func() {
		request := httptest.NewRequest(http.MethodPost, "/validate", bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		hook.ServeHTTP(recorder, request)
		answer = recorder.Body.Bytes()
	})
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(answer, &review); err != nil || !review.Response.Allowed {
		t.Fatalf("answered %s: %v", answer, err)
	}
	const ceiling = 110
	if got > ceiling {
		t.Errorf("%v allocations, at most %v are allowed", got, ceiling)
	}
}
