package client_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

func TestPatchesHoldWhatHasChanged(t *testing.T) {
	pod := func(version string, images ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: named()}
		p.ResourceVersion = version
		for _, image := range images {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: image, Image: image})
		}
		return p
	}
	lock := client.MergeFromWithOptimisticLock{}
	for name, test := range map[string]struct {
		patch client.Patch
		to    client.Object
		typ   types.PatchType
		want  string
	}{
		"merge":              {client.MergeFrom(pod("5", "a")), pod("5", "a", "b"), types.MergePatchType, `{"spec":{"containers":[{"image":"a","name":"a","resources":{}},{"image":"b","name":"b","resources":{}}]}}`},
		"merge, same":        {client.MergeFrom(pod("5", "a")), pod("5", "a"), types.MergePatchType, `{}`},
		"merge, lock":        {client.MergeFromWithOptions(pod("5", "a"), lock), pod("6", "a"), types.MergePatchType, `{"metadata":{"resourceVersion":"5"}}`},
		"strategic":          {client.StrategicMergeFrom(pod("5", "a")), pod("5", "a", "b"), types.StrategicMergePatchType, `{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"image":"b","name":"b","resources":{}}]}}`},
		"strategic, lock":    {client.StrategicMergeFrom(pod("5", "a"), lock), pod("", "a"), types.StrategicMergePatchType, `{"metadata":{"resourceVersion":"5"}}`},
		"raw":                {client.RawPatch(types.JSONPatchType, []byte(`[]`)), pod("5"), types.JSONPatchType, `[]`},
		"whole, merge":       {client.Merge, configMap(), types.MergePatchType, `{"metadata":{"name":"w","namespace":"n"}}`},
		"whole, apply":       {client.Apply, configMap(), types.ApplyPatchType, `{"metadata":{"name":"w","namespace":"n"}}`},
		"merge unstructured": {client.MergeFrom(unstructuredObject(widgetKind)), metadataObject(widgetKind), types.MergePatchType, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.to.DeepCopyObject().(client.Object)
			got, err := test.patch.Data(test.to)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want || test.patch.Type() != test.typ {
				t.Errorf("%s: %s\nwant %s", test.patch.Type(), got, test.want)
			}
			if before.GetResourceVersion() != test.to.GetResourceVersion() {
				t.Error("making out the patch changed the object")
			}
		})
	}
}
