package controllers

import (
	"context"
	"time"

	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	k8sscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/controller/certificates/approver"
	"k8s.io/kubernetes/pkg/controller/certificates/cleaner"
	"k8s.io/kubernetes/pkg/controller/certificates/signer"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	"k8s.io/kubernetes/pkg/generated/openapi"

	"github.com/operon-dev/operon/cmd/operon/cluster/pki"
)

func clusterRoleAggregation(_ context.Context, env *environment) (run, error) {
	c := clusterroleaggregation.NewClusterRoleAggregation(env.informers.Rbac().V1().ClusterRoles(), env.client.RbacV1())
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func certificateApproval(ctx context.Context, env *environment) (run, error) {
	c := approver.NewCSRApprovingController(ctx, env.client, env.informers.Certificates().V1().CertificateSigningRequests())
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

// certificateSigning signs for the built-in signers with the cluster's own authority.
func certificateSigning(ctx context.Context, env *environment) (run, error) {
	requests := env.informers.Certificates().V1().CertificateSigningRequests()
	cert, key := env.pki.Path(pki.CACertFile), env.pki.Path(pki.CAKeyFile)
	const validity = 365 * 24 * time.Hour
	var signers []*signer.CSRSigningController
	for _, build := range []func() (*signer.CSRSigningController, error){
		func() (*signer.CSRSigningController, error) {
			return signer.NewKubeletServingCSRSigningController(ctx, env.client, requests, cert, key, validity)
		},
		func() (*signer.CSRSigningController, error) {
			return signer.NewKubeletClientCSRSigningController(ctx, env.client, requests, cert, key, validity)
		},
		func() (*signer.CSRSigningController, error) {
			return signer.NewKubeAPIServerClientCSRSigningController(ctx, env.client, requests, cert, key, validity)
		},
		func() (*signer.CSRSigningController, error) {
			return signer.NewLegacyUnknownCSRSigningController(ctx, env.client, requests, cert, key, validity)
		},
	} {
		c, err := build()
		if err != nil {
			return nil, err
		}
		signers = append(signers, c)
	}
	return func(ctx context.Context) {
		for _, c := range signers {
			go c.Run(ctx, 1)
		}
		<-ctx.Done()
	}, nil
}

func certificateCleaning(_ context.Context, env *environment) (run, error) {
	c := cleaner.NewCSRCleanerController(env.client.CertificatesV1().CertificateSigningRequests(), env.informers.Certificates().V1().CertificateSigningRequests())
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func admissionPolicyStatus(_ context.Context, env *environment) (run, error) {
	checker := &validating.TypeChecker{
		SchemaResolver: resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, k8sscheme.Scheme, apiextensionsscheme.Scheme).
			Combine(&resolver.ClientDiscoveryResolver{Discovery: env.discovery}),
		RestMapper: env.mapper,
	}
	c, err := validatingadmissionpolicystatus.NewController(env.informers.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		env.client.AdmissionregistrationV1().ValidatingAdmissionPolicies(), checker)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}
