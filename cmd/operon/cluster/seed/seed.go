package seed

import (
	"bytes"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/uuid"
	flowcontrolbootstrap "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	schedulingapiv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// Prefix is the key below which kube-apiserver keeps its objects.
const Prefix = "/registry"

// Provisioner is the provisioner of the default storage class.
const Provisioner = "operon.dev/simulated"

// Namespaces are those that every cluster has.
var Namespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}

// Objects returns the first state as etcd keys and values. services is the service network.
func Objects(services *net.IPNet) (map[string][]byte, error) {
	s := &seeder{
		now:   metav1.Now().Rfc3339Copy(),
		codec: protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme),
		out:   make(map[string][]byte),
	}
	s.namespaces()
	s.rbac()
	s.priorityClasses()
	s.flowControl()
	s.serviceNetwork(services)
	s.storageClass()
	return s.out, s.err
}

type seeder struct {
	now   metav1.Time
	codec runtime.Encoder
	out   map[string][]byte
	err   error
}

type object interface {
	runtime.Object
	metav1.Object
}

// add completes a copy of the object as its creation through the API would, and encodes it.
func (s *seeder) add(gv schema.GroupVersion, kind, resource string, obj object) {
	if s.err != nil {
		return
	}
	obj = obj.DeepCopyObject().(object)
	legacyscheme.Scheme.Default(obj)
	obj.SetUID(uuid.NewUUID())
	obj.SetCreationTimestamp(s.now)
	obj.GetObjectKind().SetGroupVersionKind(gv.WithKind(kind))
	key := Prefix + "/" + resource + "/"
	if ns := obj.GetNamespace(); ns != "" {
		key += ns + "/"
	}
	key += obj.GetName()
	var buf bytes.Buffer
	if err := s.codec.Encode(obj, &buf); err != nil {
		s.err = fmt.Errorf("%s %s: %w", kind, obj.GetName(), err)
		return
	}
	s.out[key] = buf.Bytes()
}

func (s *seeder) namespaces() {
	for _, name := range Namespaces {
		s.add(corev1.SchemeGroupVersion, "Namespace", "namespaces", &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}, ManagedFields: s.namespaceFields(),
			},
			Spec:   corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
			Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
		})
		s.add(corev1.SchemeGroupVersion, "ServiceAccount", "serviceaccounts", &corev1.ServiceAccount{
			ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: name},
		})
	}
}

// namespaceFields is what kube-apiserver's start-up hook owns of a namespace that it creates. Tests of operators take the
// namespace "default" for an object that is sure to be there and to have managed fields.
func (s *seeder) namespaceFields() []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{
		Manager: "kube-apiserver", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &s.now,
		FieldsType: "FieldsV1",
		FieldsV1:   metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:` + corev1.LabelMetadataName + `":{}}}}`),
	}}
}

func (s *seeder) rbac() {
	gv := rbacv1.SchemeGroupVersion
	for _, roles := range [][]rbacv1.ClusterRole{bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()} {
		aggregate(roles)
		for i := range roles {
			s.add(gv, "ClusterRole", "clusterroles", &roles[i])
		}
	}
	for _, bindings := range [][]rbacv1.ClusterRoleBinding{bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()} {
		for i := range bindings {
			s.add(gv, "ClusterRoleBinding", "clusterrolebindings", &bindings[i])
		}
	}
	for namespace, roles := range bootstrappolicy.NamespaceRoles() {
		for i := range roles {
			roles[i].Namespace = namespace
			s.add(gv, "Role", "roles", &roles[i])
		}
	}
	for namespace, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		for i := range bindings {
			bindings[i].Namespace = namespace
			s.add(gv, "RoleBinding", "rolebindings", &bindings[i])
		}
	}
}

func (s *seeder) priorityClasses() {
	for _, class := range schedulingapiv1.SystemPriorityClasses() {
		class.Generation = 1
		s.add(schedulingv1.SchemeGroupVersion, "PriorityClass", "priorityclasses", class)
	}
}

func (s *seeder) flowControl() {
	gv := flowcontrolv1.SchemeGroupVersion
	for _, levels := range [][]*flowcontrolv1.PriorityLevelConfiguration{
		flowcontrolbootstrap.MandatoryPriorityLevelConfigurations, flowcontrolbootstrap.SuggestedPriorityLevelConfigurations,
	} {
		for _, level := range levels {
			level = level.DeepCopy()
			level.Generation = 1
			level.Annotations = map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"}
			s.add(gv, "PriorityLevelConfiguration", "prioritylevelconfigurations", level)
		}
	}
	for _, schemas := range [][]*flowcontrolv1.FlowSchema{
		flowcontrolbootstrap.MandatoryFlowSchemas, flowcontrolbootstrap.SuggestedFlowSchemas,
	} {
		for _, schema := range schemas {
			schema = schema.DeepCopy()
			schema.Generation = 1
			schema.Annotations = map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"}
			schema.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{{
				Type:               flowcontrolv1.FlowSchemaConditionDangling,
				Status:             flowcontrolv1.ConditionFalse,
				LastTransitionTime: s.now,
				Reason:             "Found",
				Message:            fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", schema.Spec.PriorityLevelConfiguration.Name),
			}}
			s.add(gv, "FlowSchema", "flowschemas", schema)
		}
	}
}

func (s *seeder) serviceNetwork(services *net.IPNet) {
	s.add(networkingv1.SchemeGroupVersion, "ServiceCIDR", "servicecidrs", &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{
			Name: "kubernetes",
			// The controller of service networks puts it on every one of them.
			Finalizers: []string{"networking.k8s.io/service-cidr-finalizer"},
		},
		Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{services.String()}},
		Status: networkingv1.ServiceCIDRStatus{Conditions: []metav1.Condition{{
			Type:               networkingv1.ServiceCIDRConditionReady,
			Status:             metav1.ConditionTrue,
			LastTransitionTime: s.now,
			Message:            "Kubernetes default Service CIDR is ready",
		}}},
	})
}

// storageClass makes claims without a class work, as they do on any cluster that a user knows. It is the one object that
// Kubernetes would not make.
func (s *seeder) storageClass() {
	s.add(storagev1.SchemeGroupVersion, "StorageClass", "storageclasses", &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: "standard", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner:          Provisioner,
		AllowVolumeExpansion: new(true),
	})
}
