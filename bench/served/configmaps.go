package served

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConfigMaps is n ConfigMaps with four files of configuration each, as a user applies them.
func ConfigMaps(n int) Set {
	return Set{
		GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Plural: "configmaps", Count: n,
		make: func(i int) object { return makeConfigMap(i) },
	}
}

func makeConfigMap(i int) *corev1.ConfigMap {
	name, now := fmt.Sprintf("settings-%05d", i), metav1.NewTime(time.Unix(1_780_000_000+int64(i)*7, 0).UTC())
	files := map[string]string{}
	for _, file := range []string{"server.yaml", "logging.yaml", "routes.yaml", "features.json"} {
		files[file] = strings.Repeat(fmt.Sprintf("%s: value-%05d\n", file, i), 12)
	}
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: fmt.Sprintf("team-%03d", i/100), UID: serialUID(i), ResourceVersion: fmt.Sprint(firstVersion + i), CreationTimestamp: now,
			Labels:      map[string]string{"app.kubernetes.io/name": "settings", "app.kubernetes.io/part-of": "shop", "app.kubernetes.io/managed-by": "kustomize"},
			Annotations: map[string]string{"config.example.com/revision": fmt.Sprintf("%064x", i)},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", Time: &now, FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:features.json":{},"f:logging.yaml":{},"f:routes.yaml":{},"f:server.yaml":{}},"f:metadata":{"f:annotations":{"f:config.example.com/revision":{}},` +
					`"f:labels":{"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{}}}}`),
			}},
		},
		Data: files,
	}
}
