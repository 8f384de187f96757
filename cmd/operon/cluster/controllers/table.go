package controllers

import "context"

// A run does a controller's work until its context ends.
type run func(ctx context.Context)

type controller struct {
	name  string
	build func(ctx context.Context, env *environment) (run, error)
}

// workloadControllers work on a few resources each. The names are those of kube-controller-manager, but for
// the provisioner, which stands for one that a cluster brings along.
var workloadControllers = []controller{
	{"serviceaccount-token-controller", serviceAccountTokens},
	{"serviceaccount-controller", serviceAccounts},
	{"root-ca-certificate-publisher-controller", rootCAPublisher},
	{"namespace-controller", namespaces},

	{"deployment-controller", deployments},
	{"replicaset-controller", replicaSets},
	{"replicationcontroller-controller", replicationControllers},
	{"statefulset-controller", statefulSets},
	{"daemonset-controller", daemonSets},
	{"job-controller", jobs},
	{"cronjob-controller", cronJobs},
	{"ttl-after-finished-controller", ttlAfterFinished},
	{"disruption-controller", disruptionBudgets},
	{"horizontal-pod-autoscaler-controller", podAutoscalers},

	{"endpoints-controller", endpoints},
	{"endpointslice-controller", endpointSlices},
	{"endpointslice-mirroring-controller", endpointSliceMirroring},
	{"service-cidr-controller", serviceCIDRs},

	{"node-lifecycle-controller", nodeLifecycle},
	{"taint-eviction-controller", taintEviction},
	{"pod-garbage-collector-controller", orphanedPods},

	{"persistentvolume-binder-controller", persistentVolumeBinder},
	{"persistentvolumeclaim-protection-controller", claimProtection},
	{"persistentvolume-protection-controller", volumeProtection},
	{"volumeattributesclass-protection-controller", attributesClassProtection},
	{"ephemeral-volume-controller", ephemeralVolumes},
	{"resourceclaim-controller", deviceClaims},
	{"simulated-volume-provisioner", simulatedVolumes},

	{"clusterrole-aggregation-controller", clusterRoleAggregation},
	{"certificatesigningrequest-approving-controller", certificateApproval},
	{"certificatesigningrequest-signing-controller", certificateSigning},
	{"certificatesigningrequest-cleaner-controller", certificateCleaning},
	{"validatingadmissionpolicy-status-controller", admissionPolicyStatus},
}

// resourceControllers watch every resource that the server has, or read what one that does so has seen.
var resourceControllers = []controller{
	{"garbage-collector-controller", garbageCollection},
	{"resourcequota-controller", resourceQuotas},
	{"storage-version-migrator-controller", storageMigrations},
}
