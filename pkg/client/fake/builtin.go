package fake

import "k8s.io/apimachinery/pkg/runtime/schema"

// trait is something a server does for a kind of object.
type trait uint8

const (
	// clusterScoped kinds have no namespace.
	clusterScoped trait = 1 << iota
	// hasStatus kinds have a status subresource.
	hasStatus
	// hasGeneration kinds count the changes of what is wanted of them.
	hasGeneration
	// replaceable kinds can be updated without naming a resourceVersion.
	replaceable
	// createdByUpdate kinds are created by an update of an object that is not there.
	createdByUpdate
	// hasScale kinds have a scale subresource at spec.replicas, status.replicas and spec.selector.
	hasScale
	// bringsStatus kinds keep the status that they are created with, though it is a subresource.
	bringsStatus
)

// builtins are the kinds of Kubernetes 1.37, as the strategies of its registry treat them. Versions of a kind do not differ.
var builtins = map[schema.GroupKind]trait{
	{Kind: "ConfigMap"}:             replaceable,
	{Kind: "Endpoints"}:             replaceable | createdByUpdate,
	{Kind: "Event"}:                 replaceable | createdByUpdate,
	{Kind: "LimitRange"}:            replaceable | createdByUpdate,
	{Kind: "Namespace"}:             clusterScoped | hasStatus | replaceable,
	{Kind: "Node"}:                  clusterScoped | hasStatus | replaceable | bringsStatus,
	{Kind: "PersistentVolume"}:      clusterScoped | hasStatus | replaceable,
	{Kind: "PersistentVolumeClaim"}: hasStatus | replaceable,
	{Kind: "Pod"}:                   hasStatus | hasGeneration | replaceable,
	{Kind: "PodTemplate"}:           hasGeneration | replaceable,
	{Kind: "ReplicationController"}: hasStatus | hasGeneration | replaceable | hasScale,
	{Kind: "ResourceQuota"}:         hasStatus | replaceable,
	{Kind: "Secret"}:                replaceable,
	{Kind: "Service"}:               hasStatus | replaceable | createdByUpdate,
	{Kind: "ServiceAccount"}:        replaceable,

	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          clusterScoped | hasGeneration,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   clusterScoped | hasGeneration,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     clusterScoped | hasGeneration,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        clusterScoped | hasStatus | hasGeneration,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: clusterScoped | hasGeneration,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   clusterScoped | hasGeneration,

	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: clusterScoped | hasStatus | hasGeneration,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             clusterScoped | hasStatus,

	{Group: "apps", Kind: "ControllerRevision"}: replaceable,
	{Group: "apps", Kind: "DaemonSet"}:          hasStatus | hasGeneration | replaceable,
	{Group: "apps", Kind: "Deployment"}:         hasStatus | hasGeneration | replaceable | hasScale,
	{Group: "apps", Kind: "ReplicaSet"}:         hasStatus | hasGeneration | replaceable | hasScale,
	{Group: "apps", Kind: "StatefulSet"}:        hasStatus | hasGeneration | replaceable | hasScale,

	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: hasStatus | replaceable,

	{Group: "batch", Kind: "CronJob"}: hasStatus | hasGeneration | replaceable,
	{Group: "batch", Kind: "Job"}:     hasStatus | hasGeneration | replaceable,

	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: clusterScoped | hasStatus | replaceable,
	{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}:        clusterScoped,
	{Group: "certificates.k8s.io", Kind: "PodCertificateRequest"}:     hasStatus,

	{Group: "coordination.k8s.io", Kind: "Lease"}:          createdByUpdate,
	{Group: "coordination.k8s.io", Kind: "LeaseCandidate"}: createdByUpdate,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:     hasGeneration | replaceable,
	{Group: "events.k8s.io", Kind: "Event"}:                replaceable | createdByUpdate,

	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                 clusterScoped | hasStatus | hasGeneration | replaceable,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: clusterScoped | hasStatus | hasGeneration | replaceable,

	{Group: "networking.k8s.io", Kind: "Ingress"}:       hasStatus | hasGeneration | replaceable,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:  clusterScoped | hasGeneration | replaceable,
	{Group: "networking.k8s.io", Kind: "IPAddress"}:     clusterScoped | replaceable,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}: hasGeneration | replaceable,
	{Group: "networking.k8s.io", Kind: "ServiceCIDR"}:   clusterScoped | hasStatus | replaceable,

	{Group: "node.k8s.io", Kind: "RuntimeClass"}:   clusterScoped | createdByUpdate,
	{Group: "policy", Kind: "PodDisruptionBudget"}: hasStatus | hasGeneration,

	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:        clusterScoped | replaceable | createdByUpdate,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: clusterScoped | replaceable | createdByUpdate,
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:               replaceable | createdByUpdate,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        replaceable | createdByUpdate,

	{Group: "resource.k8s.io", Kind: "DeviceClass"}:           clusterScoped | hasGeneration | replaceable,
	{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}:       clusterScoped | hasStatus | hasGeneration,
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:         hasStatus | replaceable,
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: replaceable,
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:         clusterScoped | hasGeneration | replaceable,

	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}: clusterScoped | hasGeneration | replaceable,

	{Group: "storage.k8s.io", Kind: "CSIDriver"}:             clusterScoped,
	{Group: "storage.k8s.io", Kind: "CSINode"}:               clusterScoped | hasStatus,
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}:    0,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:          clusterScoped | replaceable,
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:      clusterScoped | hasStatus,
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}: clusterScoped | replaceable,

	{Group: "storagemigration.k8s.io", Kind: "StorageVersionMigration"}: clusterScoped | hasStatus,
}
