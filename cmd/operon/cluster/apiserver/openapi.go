package apiserver

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// serveOpenAPIV2Lazily lets the core server describe itself in OpenAPI v2 when somebody asks. kube-apiserver does it before it serves, which is
// a quarter of a second for a document that kubectl stopped to read; the aggregator asks for it only when it is asked itself.
func serveOpenAPIV2Lazily(chain *aggregatorapiserver.APIAggregator, config *common.Config) error {
	core, ok := chain.GenericAPIServer.NextDelegate().(*genericapiserver.GenericAPIServer)
	if !ok {
		return fmt.Errorf("core server is a %T", chain.GenericAPIServer.NextDelegate())
	}
	document := cached.Once(cached.Func(func() (*spec.Swagger, string, error) {
		services := restfuladapter.AdaptWebServices(core.Handler.GoRestfulContainer.RegisteredWebServices())
		document, err := builder.BuildOpenAPISpecFromRoutes(services, config)
		if err != nil {
			return nil, "", err
		}
		document.Definitions = handler.PruneDefaults(document.Definitions)
		// It does not change as long as the server lives.
		return document, "core", nil
	}))
	handler.NewOpenAPIServiceLazy(document).RegisterOpenAPIVersionedService("/openapi/v2", core.Handler.NonGoRestfulMux)
	return nil
}
