package served

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// DatabaseKind is the kind of Database.
var DatabaseKind = schema.GroupVersionKind{Group: "bench.operon.dev", Version: "v1", Kind: "Database"}

// Scheme has client-go's kinds and Database.
var Scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := scheme.AddToScheme(s); err != nil {
		panic(err) // it registers into a new scheme
	}
	s.AddKnownTypeWithName(DatabaseKind, &Database{})
	s.AddKnownTypeWithName(DatabaseKind.GroupVersion().WithKind("DatabaseList"), &DatabaseList{})
	metav1.AddToGroupVersion(s, DatabaseKind.GroupVersion())
	return s
}()

// Database is a custom resource of the usual size and shape: a spec of a dozen fields, a status with conditions.
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              databaseSpec   `json:"spec"`
	Status            databaseStatus `json:"status,omitempty"`
}

type databaseSpec struct {
	Engine       string                      `json:"engine"`
	Version      string                      `json:"version"`
	Replicas     int32                       `json:"replicas"`
	StorageClass string                      `json:"storageClass"`
	Size         string                      `json:"size"`
	SecretName   string                      `json:"secretName"`
	Backup       string                      `json:"backup"`
	Parameters   map[string]string           `json:"parameters,omitempty"`
	Users        []string                    `json:"users,omitempty"`
	NodeSelector map[string]string           `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration         `json:"tolerations,omitempty"`
	Resources    corev1.ResourceRequirements `json:"resources,omitempty"`
}

type databaseStatus struct {
	ObservedGeneration int64              `json:"observedGeneration"`
	Ready              int32              `json:"ready"`
	Primary            string             `json:"primary"`
	Endpoints          []string           `json:"endpoints,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// DatabaseList is a list of them.
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Database `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (d *Database) DeepCopyObject() runtime.Object {
	c := *d
	d.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Parameters = maps.Clone(d.Spec.Parameters)
	c.Spec.NodeSelector = maps.Clone(d.Spec.NodeSelector)
	c.Spec.Users = slices.Clone(d.Spec.Users)
	c.Spec.Tolerations = slices.Clone(d.Spec.Tolerations)
	d.Spec.Resources.DeepCopyInto(&c.Spec.Resources)
	c.Status.Endpoints = slices.Clone(d.Status.Endpoints)
	c.Status.Conditions = slices.Clone(d.Status.Conditions)
	return &c
}

// DeepCopyObject implements runtime.Object.
func (l *DatabaseList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*Database))
	}
	return &c
}

// Databases is n databases, each with the managedFields of the user who applied it and of its operator.
func Databases(n int) Set {
	return Set{
		GVK: DatabaseKind, Plural: "databases", Count: n, json: true,
		make: func(i int) object { return makeDatabase(i) },
	}
}

func makeDatabase(i int) *Database {
	name, now := fmt.Sprintf("orders-%05d", i), metav1.NewTime(time.Unix(1_780_000_000+int64(i)*7, 0).UTC())
	conditions := make([]metav1.Condition, 0, 3)
	for _, kind := range []string{"Available", "Progressing", "BackedUp"} {
		conditions = append(conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, ObservedGeneration: 3, LastTransitionTime: now, Reason: "AsSpecified",
			Message: "all replicas serve and have the parameters of the spec",
		})
	}
	return &Database{
		TypeMeta: metav1.TypeMeta{APIVersion: DatabaseKind.GroupVersion().String(), Kind: DatabaseKind.Kind},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: fmt.Sprintf("team-%03d", i/100), UID: serialUID(i), ResourceVersion: fmt.Sprint(firstVersion + i),
			Generation: 3, CreationTimestamp: now, Finalizers: []string{"bench.operon.dev/volumes"},
			Labels: map[string]string{
				"app.kubernetes.io/name": "orders", "app.kubernetes.io/instance": name, "app.kubernetes.io/part-of": "shop", "app.kubernetes.io/managed-by": "helm",
			},
			Annotations: map[string]string{
				"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": fmt.Sprintf("team-%03d", i/100), "bench.operon.dev/last-backup": "2026-05-01T10:00:00Z",
			},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "helm", Operation: metav1.ManagedFieldsOperationApply, APIVersion: DatabaseKind.GroupVersion().String(), Time: &now, FieldsType: "FieldsV1",
					FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:meta.helm.sh/release-name":{},"f:meta.helm.sh/release-namespace":{}},"f:labels":{"f:app.kubernetes.io/instance":{},` +
						`"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{}}},"f:spec":{"f:backup":{},"f:engine":{},"f:nodeSelector":{"f:disk":{}},` +
						`"f:parameters":{"f:max_connections":{},"f:shared_buffers":{},"f:work_mem":{}},"f:replicas":{},"f:resources":{"f:limits":{"f:memory":{}},"f:requests":{"f:cpu":{},"f:memory":{}}},` +
						`"f:secretName":{},"f:size":{},"f:storageClass":{},"f:tolerations":{},"f:users":{},"f:version":{}}}`)},
				{Manager: "database-operator", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: DatabaseKind.GroupVersion().String(), Time: &now, Subresource: "status", FieldsType: "FieldsV1",
					FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{"k:{\"type\":\"Available\"}":{"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}},` +
						`"k:{\"type\":\"BackedUp\"}":{"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}},` +
						`"k:{\"type\":\"Progressing\"}":{"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:endpoints":{},"f:observedGeneration":{},"f:primary":{},"f:ready":{}}}`)},
			},
		},
		Spec: databaseSpec{
			Engine: "postgres", Version: "17.2", Replicas: 3, StorageClass: "fast", Size: "100Gi", SecretName: name + "-admin", Backup: "0 3 * * *",
			Parameters:   map[string]string{"max_connections": "200", "shared_buffers": "1GB", "work_mem": "16MB"},
			Users:        []string{"app", "migrations", "readonly"},
			NodeSelector: map[string]string{"disk": "nvme"},
			Tolerations:  []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "database", Effect: corev1.TaintEffectNoSchedule}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: quantity.MustParse("500m"), corev1.ResourceMemory: quantity.MustParse("2Gi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: quantity.MustParse("2Gi")},
			},
		},
		Status: databaseStatus{
			ObservedGeneration: 3, Ready: 3, Primary: name + "-0", Conditions: conditions,
			Endpoints: []string{name + "-0." + name + ":5432", name + "-1." + name + ":5432", name + "-2." + name + ":5432"},
		},
	}
}

// serialUID is the UID of an object that nothing refers to.
func serialUID(i int) types.UID { return types.UID(fmt.Sprintf("%08x-1111-4000-8000-%012x", i+1, i+1)) }
