package client_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-dev/operon/pkg/client"
)

func TestWhatADeletionIsToldAs(t *testing.T) {
	const gone, pending, nothing = "gone", "pending", "nothing"
	for name, test := range map[string]struct {
		answer string
		opts   []client.DeleteOption
		want   string
	}{
		"status with a uid": {answer: `{"apiVersion":"v1","kind":"Status","status":"Success","details":{"name":"w","uid":"u"}}`, want: gone},
		"status without":    {answer: `{"apiVersion":"v1","kind":"Status","status":"Success"}`, want: nothing},
		"object":            {answer: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"n","name":"w","uid":"u"}}`, want: gone},
		"object with finalizers": {
			answer: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"n","name":"w","uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0,"finalizers":["f"]}}`,
			want:   pending,
		},
		"object within its grace period": {
			answer: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"n","name":"w","uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30}}`,
			want:   pending,
		},
		"object without grace, which something else may hold": {
			answer: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"n","name":"w","uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0}}`,
			want:   pending,
		},
		"dry run": {
			answer: `{"apiVersion":"v1","kind":"Status","status":"Success","details":{"name":"w","uid":"u"}}`,
			opts:   []client.DeleteOption{client.DryRunAll}, want: nothing,
		},
		"raw dry run": {
			answer: `{"apiVersion":"v1","kind":"Status","status":"Success","details":{"name":"w","uid":"u"}}`,
			opts:   []client.DeleteOption{&client.DeleteOptions{Raw: &metav1.DeleteOptions{DryRun: []string{"All"}}}}, want: nothing,
		},
		"unobserved": {
			answer: `{"apiVersion":"v1","kind":"Status","status":"Success","details":{"name":"w","uid":"u"}}`,
			opts:   []client.DeleteOption{client.DisableReadYourWritesConsistency}, want: nothing,
		},
	} {
		for _, obj := range []client.Object{widget(), unstructuredObject(widgetKind), metadataObject(widgetKind)} {
			seen := &observer{}
			c := answering(t, test.answer).client(t, client.Options{Cache: &client.CacheOptions{Reader: seen}})
			must(t, name, c.Delete(t.Context(), obj, test.opts...))
			switch test.want {
			case nothing:
				seen.mustHaveNothing(t)
			case gone:
				want := &deleted{widgetKind, client.ObjectKey{Namespace: "n", Name: "w"}, "u"}
				if diff := cmp.Diff(want, seen.one(t).deleted); diff != "" {
					t.Errorf("%s, %T: -want +got:\n%s", name, obj, diff)
				}
			case pending:
				w := seen.one(t).write
				if w == nil || w.GVK != widgetKind || w.Object.GetUID() != "u" || string(w.JSON) != test.answer {
					t.Fatalf("%s, %T: told %+v", name, obj, w)
				}
				if cmp.Equal(obj, w.Object) || w.Object.GetObjectKind().GroupVersionKind() != obj.GetObjectKind().GroupVersionKind() {
					t.Errorf("%s, %T: told of %+v", name, obj, w.Object)
				}
			}
		}
	}
}

// What the server has deleted is deleted, whether or not the caller's Go type can hold what it answers.
func TestADeletionWhoseAnswerDoesNotFitTheGoTypeIsNoError(t *testing.T) {
	seen := &observer{}
	s := answering(t, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"n","name":"w","uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["f"]},"spec":"of another make"}`)
	c := s.client(t, client.Options{Cache: &client.CacheOptions{Reader: seen}})
	must(t, "delete", c.Delete(t.Context(), widget()))
	seen.mustHaveNothing(t)
}

func TestTheObserverGetsJSONWhenItNeedsIt(t *testing.T) {
	for _, need := range []bool{false, true} {
		seen := &observer{wholeJSON: need}
		s := answering(t, configMapJSON)
		c := s.client(t, client.Options{Cache: &client.CacheOptions{Reader: seen}})
		must(t, "update", c.Update(t.Context(), configMap()))
		got := s.one(t)
		if want := map[bool]string{true: jsonType, false: protobufType + "," + jsonType}[need]; got.Accept != want {
			t.Errorf("needs JSON: %v, asked for %s", need, got.Accept)
		}
		if got.ContentType != protobufType {
			t.Errorf("sent as %s", got.ContentType)
		}
		if w := seen.one(t).write; string(w.JSON) != configMapJSON || w.Object.(*corev1.ConfigMap).Data["a"] != "1" {
			t.Errorf("told %+v", w)
		}
		must(t, "dry run", c.Update(t.Context(), configMap(), client.DryRunAll))
		if got := s.one(t); got.Accept == jsonType {
			t.Error("the answer to a dry run was fetched as JSON")
		}
		seen.mustHaveNothing(t)
	}
}

func TestAnswersOfAnotherKindAreNotTold(t *testing.T) {
	seen := &observer{}
	s := answering(t, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"w","namespace":"n"},"spec":{"replicas":3}}`)
	c := s.client(t, client.Options{Cache: &client.CacheOptions{Reader: seen}})
	scale := unstructuredObject(scaleKind)
	must(t, "update scale", c.SubResource("scale").Update(t.Context(), widget(), client.WithSubResourceBody(scale)))
	must(t, "create scale", c.SubResource("scale").Create(t.Context(), widget(), scale))
	must(t, "patch scale", c.SubResource("scale").Patch(t.Context(), widget(), client.Merge, client.WithSubResourceBody(scale)))
	seen.mustHaveNothing(t)
}

func TestDeletionsOfManyAreToldOneByOne(t *testing.T) {
	seen := &observer{}
	s := newServer(t, func(r request) (int, string, string) {
		if r.Method == "DELETE" {
			return 200, jsonType, `{"apiVersion":"v1","kind":"ConfigMapList","metadata":{},"items":[
				{"metadata":{"namespace":"n","name":"free","uid":"1"}},
				{"metadata":{"namespace":"n","name":"held","uid":"2","finalizers":["f"]}}]}`
		}
		return 200, jsonType, `{"apiVersion":"v1","kind":"ConfigMapList","metadata":{},"items":[
			{"metadata":{"namespace":"n","name":"held","uid":"2","resourceVersion":"9","finalizers":["f"],"deletionTimestamp":"2026-01-01T00:00:00Z"},"data":{"a":"1"}}]}`
	})
	c := s.client(t, client.Options{Cache: &client.CacheOptions{Reader: seen}})
	must(t, "delete all", c.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("n"), client.MatchingLabels{"a": "b"}))
	held := configMap()
	held.Name, held.UID = "held", "2"
	free := configMap()
	free.Name, free.UID = "free", "1"
	all := seen.take()
	seen.all = append(seen.all, all...)
	seen.mustHaveDeletedAll(t, corev1.SchemeGroupVersion.WithKind("ConfigMap"), held, free)
	for _, w := range all {
		if w.write != nil && (w.write.Object.(*corev1.ConfigMap).Data["a"] != "1" || !strings.HasPrefix(string(w.write.JSON), `{"apiVersion":"v1","kind":"ConfigMap",`)) {
			t.Errorf("told %+v: %s", w.write.Object, w.write.JSON)
		}
	}
	sent := s.sent()
	if len(sent) != 2 || sent[1].Query.Get("labelSelector") != "a=b" || sent[1].Path != sent[0].Path {
		t.Errorf("sent %+v", sent)
	}
	must(t, "dry run", c.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("n"), client.DryRunAll))
	if n := len(s.sent()); n != 1 {
		t.Errorf("a dry run took %d requests", n)
	}
	seen.mustHaveNothing(t)
}
