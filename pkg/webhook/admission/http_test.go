package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/webhook/admission"
)

func TestWhatIsNoQuestionIsAnsweredWithTheReason(t *testing.T) {
	const refusal = `{"response":{"uid":"","allowed":false,"status":{"metadata":{},"message":%MESSAGE%,"code":%CODE%}}}`
	body := func(b io.Reader) func(*http.Request) {
		return func(r *http.Request) { r.Body = io.NopCloser(b) }
	}
	contentType := func(c string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Content-Type", c) }
	}
	for _, tt := range []struct {
		name, body, message, code string
		change                    func(*http.Request)
	}{
		{name: "no body", message: "the request has no body", code: "400", change: func(r *http.Request) { r.Body = nil }},
		{name: "NoBody", message: "the request has no body", code: "400", change: func(r *http.Request) { r.Body = http.NoBody }},
		{name: "empty body", message: "the request has no body", code: "400"},
		{name: "blank body", body: " \n ", message: "the request has no body", code: "400"},
		{name: "another content type", body: "{}", message: `the content type is "application/yaml", must be application/json`, code: "400", change: contentType("application/yaml")},
		{name: "no content type", body: "{}", message: `the content type is "", must be application/json`, code: "400", change: contentType("")},
		{name: "half a document", body: "{", message: "couldn't get version/kind; json parse error: unexpected end of JSON input", code: "400"},
		{name: "another kind", body: `{"kind":"Pod","apiVersion":"v1"}`, message: `expected kind AdmissionReview in group admission.k8s.io, got kind "Pod" in version "v1"`, code: "400"},
		{name: "a version to come", body: `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v7","request":{}}`,
			message: `expected kind AdmissionReview in group admission.k8s.io, got kind "AdmissionReview" in version "admission.k8s.io/v7"`, code: "400"},
		{name: "no request", body: `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`, message: "the AdmissionReview holds no request", code: "400"},
		{name: "a body without end", message: "the request is too large: its body must be shorter than 7340032 bytes", code: "413", change: body(endless{})},
		{name: "a body that breaks off", message: "connection reset", code: "400", change: body(cut{strings.NewReader("{")})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, l := standalone(t, &admission.Webhook{Handler: allow})
			change := tt.change
			if change == nil {
				change = func(*http.Request) {}
			}
			w := post(h, tt.body, change)
			message, err := json.Marshal(tt.message)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("%MESSAGE%", string(message), "%CODE%", tt.code).Replace(refusal)
			if got := strings.TrimSpace(w.Body.String()); got != want || w.Code != http.StatusOK {
				t.Errorf("answered %d %s\nwant %s", w.Code, got, want)
			}
			if !strings.Contains(l.String(), tt.message) && !strings.Contains(l.String(), string(message)[1:len(message)-1]) {
				t.Errorf("the reason is not logged:\n%s", l)
			}
		})
	}
}

func TestTheAnswerIsInTheVersionOfTheQuestion(t *testing.T) {
	h, _ := standalone(t, &admission.Webhook{Handler: allow})
	for question, want := range map[string]string{
		`{"request":{"uid":"1"}}`: "admission.k8s.io/v1",
		// As tests of webhooks write it who fill in a review by hand.
		`{"kind":"AdmissionReview","request":{"uid":"1"}}`:                                         "admission.k8s.io/v1",
		`{"apiVersion":"admission.k8s.io/v1beta1","request":{"uid":"1"}}`:                          "admission.k8s.io/v1beta1",
		`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"1"}}`:      "admission.k8s.io/v1",
		`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","request":{"uid":"1"}}`: "admission.k8s.io/v1beta1",
	} {
		w := post(h, question)
		expected := `{"kind":"AdmissionReview","apiVersion":"` + want + `","response":{"uid":"1","allowed":true,"status":{"metadata":{},"code":200}}}`
		if got := strings.TrimSpace(w.Body.String()); got != expected {
			t.Errorf("%s is answered with %s", question, got)
		}
		if got := w.Header().Get("Content-Type"); got != "application/json" {
			t.Errorf("%s is answered in %q", question, got)
		}
	}
}

func TestAContentTypeMayNameItsCharset(t *testing.T) {
	h, _ := standalone(t, &admission.Webhook{Handler: allow})
	w := post(h, `{"request":{}}`, func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=utf-8") })
	if !strings.Contains(w.Body.String(), `"allowed":true`) {
		t.Errorf("answered %s", w.Body)
	}
}

func TestThePanicOfAHandlerIsAnAnswer(t *testing.T) {
	panics := admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { panic("oh no") })
	h, l := standalone(t, &admission.Webhook{Handler: panics})
	w := post(h, `{"request":{"uid":"7"}}`)
	if want := `"response":{"uid":"7","allowed":false,"status":{"metadata":{},"message":"panic: oh no [recovered]","code":500}}`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("answered %s, want %s", w.Body, want)
	}
	if !strings.Contains(l.String(), "Observed a panic") || !strings.Contains(l.String(), "http_test.go") {
		t.Errorf("the panic and where it was are not logged:\n%s", l)
	}

	h, _ = standalone(t, (&admission.Webhook{Handler: panics}).WithRecoverPanic(false))
	defer func() {
		if p := recover(); p != "oh no" {
			t.Errorf("recovered %v", p)
		}
	}()
	post(h, `{"request":{"uid":"7"}}`)
	t.Error("the panic was recovered all the same")
}

func TestAnAnswerThatCannotBeEncodedIsAnError(t *testing.T) {
	broken := &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Patched("", patch("add", "/a", make(chan int)))
	})}
	h, l := standalone(t, broken)
	w := post(h, `{"request":{"uid":"7"}}`)
	if want := `"uid":"7","allowed":false,"status":{"metadata":{},"message":"the response cannot be encoded: see the webhook's log","code":500}`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("answered %s, want %s", w.Body, want)
	}
	if !strings.Contains(l.String(), "unsupported type: chan int") {
		t.Errorf("the reason is not logged:\n%s", l)
	}
}

func TestTheHandlersContextTellsOfTheRequest(t *testing.T) {
	type header struct{}
	hook := &admission.Webhook{
		WithContextFunc: func(ctx context.Context, r *http.Request) context.Context {
			return context.WithValue(ctx, header{}, r.Header.Get("X-Shard"))
		},
		Handler: admission.HandlerFunc(func(ctx context.Context, _ admission.Request) admission.Response {
			log.FromContext(ctx).Info("deciding")
			return admission.Allowed(ctx.Value(header{}).(string))
		}),
	}
	h, l := standalone(t, hook)
	w := post(h, `{"request":{"uid":"7","name":"n","namespace":"ns","resource":{"group":"g","version":"v","resource":"r"},"userInfo":{"username":"eve"}}}`,
		func(r *http.Request) { r.Header.Set("X-Shard", "blue") })
	if !strings.Contains(w.Body.String(), `"message":"blue"`) {
		t.Errorf("answered %s", w.Body)
	}
	want := `"msg"="deciding" "object"={"name"="n" "namespace"="ns"} "namespace"="ns" "name"="n" "resource"={"group"="g" "version"="v" "resource"="r"} "user"="eve" "requestID"="7"`
	if !strings.Contains(l.String(), want) {
		t.Errorf("logged\n%s\nwant %s", l, want)
	}
}

func TestALogConstructorOfOnesOwnIsUsedInsideAndOutsideOfRequests(t *testing.T) {
	h, l := standalone(t, &admission.Webhook{
		Handler: allow,
		LogConstructor: func(base logr.Logger, req *admission.Request) logr.Logger {
			return base.WithValues("mine", req != nil)
		},
	})
	post(h, `{"request":{}}`)
	post(h, `{`)
	for _, want := range []string{`"msg"="Request received" "mine"=true`, `"msg"="Response sent" "mine"=false`, `"msg"="Request cannot be decoded"`} {
		if !strings.Contains(l.String(), want) {
			t.Errorf("logged\n%s\nwant %s", l, want)
		}
	}
}

func TestObjectsAndTheirSecretsAreNotLogged(t *testing.T) {
	const secret = "hunter2"
	for name, handler := range map[string]*admission.Webhook{
		"allowed":   {Handler: allow},
		"defaulted": admission.WithDefaulter(scheme(), defaultFunc(func(_ context.Context, t *thing) error { t.Total = 7; return nil })),
		"validated": admission.WithValidator(scheme(), judge{}),
	} {
		h, l := standalone(t, handler)
		w := post(h, `{"request":{"uid":"1","operation":"UPDATE","object":{"name":"`+secret+`"},"oldObject":{"name":"`+secret+`"},"options":{"x":"`+secret+`"},"userInfo":{"extra":{"token":["`+secret+`"]}}}}`)
		if !strings.Contains(w.Body.String(), `"allowed":true`) {
			t.Fatalf("%s: answered %s", name, w.Body)
		}
		if text := l.String(); strings.Contains(text, secret) || !strings.Contains(text, "Request received") {
			t.Errorf("%s: logged\n%s", name, text)
		}
	}
}

func TestAHandlersDeadlineComesBeforeTheAPIServers(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"?timeout=10s": 10*time.Second - 500*time.Millisecond, "?timeout=1s": 900 * time.Millisecond, "": 0, "?timeout=soon": 0, "?timeout=-1s": 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			h, _ := standalone(t, &admission.Webhook{Handler: admission.HandlerFunc(func(ctx context.Context, _ admission.Request) admission.Response {
				deadline, ok := ctx.Deadline()
				if ok != (want > 0) || ok && deadline.Sub(begin) != want {
					t.Errorf("%q: deadline after %v, want %v", query, deadline.Sub(begin), want)
				}
				return admission.Allowed("")
			})})
			r := httptest.NewRequest(http.MethodPost, "/"+query, strings.NewReader(`{"request":{}}`))
			r.Header.Set("Content-Type", "application/json")
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
}

func TestAHandlerThatOverrunsIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, l := standalone(t, &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
			time.Sleep(time.Minute)
			return admission.Allowed("")
		})})
		r := httptest.NewRequest(http.MethodPost, "/?timeout=10s", strings.NewReader(`{"request":{"uid":"slow"}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !strings.Contains(l.String(), "The handler takes longer than the API server waits for it") || !strings.Contains(l.String(), `"requestID"="slow"`) {
			t.Errorf("logged\n%s", l)
		}
	})
}

func FuzzServeHTTPAlwaysAnswers(f *testing.F) {
	for _, file := range []string{"testdata/review.json", "testdata/update.json"} {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"request":{"operation":"CREATE","object":{"parts":[null,{}],"free":{"":null}}}}`))
	f.Add([]byte(`[]`))
	total := defaultFunc(func(_ context.Context, t *thing) error {
		t.Total++
		for i := range t.Parts {
			t.Parts[i].Value++
		}
		return nil
	})
	hooks := []*admission.Webhook{
		{Handler: allow}, admission.WithDefaulter(scheme(), total), admission.WithValidator(scheme(), judge{}),
		{Handler: admission.MultiMutatingHandler(admission.WithDefaulter(scheme(), total), allow)},
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for i, hook := range hooks {
			r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			hook.ServeHTTP(w, r)
			var review admissionv1.AdmissionReview
			if err := json.Unmarshal(w.Body.Bytes(), &review); err != nil || review.Response == nil || review.Response.Result == nil || w.Code != http.StatusOK {
				t.Fatalf("hook %d answers %d %s (%v)", i, w.Code, w.Body, err)
			}
			var question admissionv1.AdmissionReview
			if json.Unmarshal(body, &question) == nil && question.Request != nil && review.Kind != "" && review.Response.UID != question.Request.UID {
				t.Fatalf("hook %d answers %q about %q", i, review.Response.UID, types.UID(question.Request.UID))
			}
			if strings.Contains(review.Response.Result.Message, "panic") && i != 2 {
				t.Fatalf("hook %d: %s", i, review.Response.Result.Message)
			}
		}
	})
}
