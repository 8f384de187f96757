package client_test

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/envtest"
)

// plane is the control plane that the tests of this package share. It starts when the first of them needs it.
var plane struct {
	once   sync.Once
	env    *envtest.Environment
	config *rest.Config
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if plane.env != nil {
		if err := plane.env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code == 0 {
		http.DefaultClient.CloseIdleConnections()
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// realServer returns the configuration of a real API server that serves widgets, or skips the test.
func realServer(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("OPERON") == "" {
		t.Skip("needs a real API server: set OPERON to the path of the operon binary")
	}
	plane.once.Do(func() {
		plane.env = &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgetCRD("widgets", "Widget")}}
		plane.config, plane.err = plane.env.Start()
		if plane.err != nil {
			plane.env = nil
		}
	})
	if plane.err != nil {
		t.Fatal(plane.err)
	}
	return rest.CopyConfig(plane.config)
}

func widgetCRD(plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"spec":   {Type: "object", XPreserveUnknownFields: &preserve},
						"status": {Type: "object", XPreserveUnknownFields: &preserve},
					},
				}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale: &apiextensionsv1.CustomResourceSubresourceScale{
						SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.ready",
					},
				},
			}},
		},
	}
}
