package cache

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

var podResource = &resource{gvk: corev1.SchemeGroupVersion.WithKind("Pod"), goType: reflect.TypeFor[*corev1.Pod]()}

// serializerOf is the protobuf serializer of a negotiator.
func serializerOf(t testing.TB, n runtime.NegotiatedSerializer) runtime.Serializer {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(n.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		t.Fatal("no protobuf")
	}
	return info.Serializer
}

func TestManagedFieldsAreNotDecodedAndAllElseIs(t *testing.T) {
	codecs := serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	plain, skipping := serializerOf(t, codecs), serializerOf(t, wireCodecs{codecs, podResource, false})
	managed := func(i int) *corev1.Pod {
		pod := benchPod(i)
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		if len(pod.ManagedFields) == 0 {
			t.Fatal("the pod has no managedFields")
		}
		return pod
	}
	bare := func(i int) corev1.Pod {
		pod := managed(i)
		pod.ManagedFields, pod.TypeMeta = nil, metav1.TypeMeta{}
		return *pod
	}
	service := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", ManagedFields: managed(0).ManagedFields},
	}
	one, of := bare(1), service.DeepCopy()
	of.TypeMeta = metav1.TypeMeta{}
	for name, test := range map[string]struct {
		in, want runtime.Object
	}{
		"an object": {managed(1), &one},
		"a list": {
			&corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{*managed(2), *managed(3)}},
			&corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{bare(2), bare(3)}},
		},
		"an object of another kind": {service, of},
		"a status": {
			&metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Reason: metav1.StatusReasonGone},
			&metav1.Status{Reason: metav1.StatusReasonGone},
		},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := runtime.Encode(plain, test.in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := runtime.Decode(skipping, raw)
			if err != nil {
				t.Fatal(err)
			}
			got.GetObjectKind().SetGroupVersionKind(test.want.GetObjectKind().GroupVersionKind())
			if list, ok := got.(*corev1.PodList); ok {
				for i := range list.Items {
					list.Items[i].TypeMeta = metav1.TypeMeta{}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
}

// What is no object stays the decoder's to complain about, in its own words.
func FuzzDecodingInPlaceIsNoDifferentFromDecoding(f *testing.F) {
	codecs := serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	plain, skipping := serializerOf(f, codecs), serializerOf(f, wireCodecs{codecs, podResource, false})
	raw, err := runtime.Encode(plain, &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:len(raw)-3])
	f.Add(append([]byte("k8s\x00"), strconv.Itoa(1)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		want, _, wantErr := plain.Decode(append([]byte(nil), data...), nil, nil)
		got, _, err := skipping.Decode(append([]byte(nil), data...), nil, nil)
		if wantErr == nil && err != nil {
			t.Fatalf("%v, and nothing without skipping", err)
		}
		pod, ok := want.(*corev1.Pod)
		if wantErr != nil || !ok {
			return
		}
		// In a document with something else in it they may be there; they are dropped later.
		pod.ManagedFields, got.(*corev1.Pod).ManagedFields = nil, nil
		pod.TypeMeta, got.(*corev1.Pod).TypeMeta = metav1.TypeMeta{}, metav1.TypeMeta{}
		if diff := cmp.Diff(pod, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestEventsAreDecodedInPlace(t *testing.T) {
	codecs := serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	stream := func(n runtime.NegotiatedSerializer) *runtime.StreamSerializerInfo {
		info, _ := runtime.SerializerInfoForMediaType(n.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
		return info.StreamSerializer
	}
	plain, inPlace := stream(codecs).Serializer, stream(wireCodecs{codecs, podResource, false}).Serializer
	raw, err := runtime.Encode(plain, &metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte("the object")}})
	if err != nil {
		t.Fatal(err)
	}
	var got metav1.WatchEvent
	if res, _, err := inPlace.Decode(raw, nil, &got); err != nil || res != runtime.Object(&got) || got.Type != "ADDED" || string(got.Object.Raw) != "the object" {
		t.Errorf("%v, %v", got, err)
	}
	if cut := raw[:len(raw)-3]; true {
		_, _, want := plain.Decode(cut, nil, &metav1.WatchEvent{})
		if _, _, err := inPlace.Decode(cut, nil, &metav1.WatchEvent{}); want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("of half an event: %v, want %v", err, want)
		}
	}
}

// A watched object costs what its fields cost, and nothing for its envelopes and managedFields; what it shares costs nothing.
func TestAnEventAllocatesNoMoreThanItsObject(t *testing.T) {
	codecs := serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()
	plain, inPlace := serializerOf(t, codecs), serializerOf(t, wireCodecs{codecs, podResource, false})
	pod := benchPod(1)
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	raw, err := runtime.Encode(plain, pod)
	if err != nil {
		t.Fatal(err)
	}
	pod.ManagedFields = nil
	bare, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	ceiling := testing.AllocsPerRun(100, func() {
		if err := new(corev1.Pod).Unmarshal(bare); err != nil {
			t.Fatal(err)
		}
	}) + 6
	got := testing.AllocsPerRun(100, func() {
		if _, _, err := inPlace.Decode(raw, nil, nil); err != nil {
			t.Fatal(err)
		}
	})
	if got > ceiling {
		t.Errorf("%v allocations, the ceiling is %v", got, ceiling)
	}
	a, b := benchPod(1), benchPod(1+benchOwners)
	if got := testing.AllocsPerRun(100, func() { shareParts(a, b) }); got > 0 {
		t.Errorf("%v allocations to compare two pods, want none", got)
	}
}
