package controllers

import (
	"context"

	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/operon-dev/operon/cmd/operon/cluster/pki"
)

func serviceAccounts(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c, err := serviceaccountcontroller.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(), env.client,
		serviceaccountcontroller.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// serviceAccountTokens fills secrets of type service-account-token.
func serviceAccountTokens(ctx context.Context, env *environment) (run, error) {
	key, err := keyutil.PrivateKeyFromFile(env.pki.Path(pki.ServiceAccountKeyFile))
	if err != nil {
		return nil, err
	}
	generator, err := serviceaccount.JWTTokenGenerator(serviceaccount.LegacyIssuer, key)
	if err != nil {
		return nil, err
	}
	core := env.informers.Core().V1()
	c, err := serviceaccountcontroller.NewTokensController(klog.FromContext(ctx), core.ServiceAccounts(), core.Secrets(), env.client,
		serviceaccountcontroller.TokensControllerOptions{TokenGenerator: generator, RootCA: env.pki.CACert})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func rootCAPublisher(_ context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), env.client, env.pki.CACert)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}
