package apiserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emicklei/go-restful/v3"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/operon-dev/operon/cmd/operon/kubeversion"
)

// documents are the core server's descriptions of itself in OpenAPI, each written when somebody asks for it. kube-apiserver writes all of them
// before it serves, which is half of the work of a start, and keeps them, which is a part of its memory.
//
// The list of the v3 documents carries a hash for each, which Kubernetes computes from the text. These documents follow from the
// binary, so here the hash is made from its version, and no text is needed for the list.
type documents struct {
	v2 *common.Config
	v3 *common.OpenAPIV3Config

	core *genericapiserver.GenericAPIServer

	v2Once sync.Once
	v2Mux  *mux.PathRecorderMux

	mu      sync.Mutex
	written map[string]http.Handler
}

// deferDocuments takes the writing of the core server's documents out of its start.
func deferDocuments(config *app.Config) *documents {
	core := config.KubeAPIs.ControlPlane.Generic
	core.SkipOpenAPIInstallation = true
	return &documents{v2: core.OpenAPIConfig, v3: core.OpenAPIV3Config, written: map[string]http.Handler{}}
}

// install makes the core server answer for its documents; the aggregator, to which clients talk, reads them from there.
func (d *documents) install(chain *aggregatorapiserver.APIAggregator) error {
	core, ok := chain.GenericAPIServer.NextDelegate().(*genericapiserver.GenericAPIServer)
	if !ok {
		return fmt.Errorf("core server is a %T", chain.GenericAPIServer.NextDelegate())
	}
	d.core = core
	m := core.Handler.NonGoRestfulMux
	m.Handle("/openapi/v2", http.HandlerFunc(d.serveV2))
	m.Handle("/openapi/v3", http.HandlerFunc(d.serveList))
	m.HandlePrefix("/openapi/v3/", http.HandlerFunc(d.serveGroupVersion))
	return nil
}

func (d *documents) serveV2(w http.ResponseWriter, r *http.Request) {
	d.v2Once.Do(func() {
		d.v2Mux = mux.NewPathRecorderMux("openapi-v2")
		routes.OpenAPI{Config: d.v2}.InstallV2(d.core.Handler.GoRestfulContainer, d.v2Mux)
	})
	d.v2Mux.ServeHTTP(w, r)
}

func (d *documents) serveList(w http.ResponseWriter, _ *http.Request) {
	list := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	for _, service := range d.core.Handler.GoRestfulContainer.RegisteredWebServices() {
		name := strings.TrimPrefix(service.RootPath(), "/")
		u := url.URL{Path: "/openapi/v3/" + name, RawQuery: url.Values{"hash": {hash(name)}}.Encode()}
		list.Paths[name] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: u.String()}
	}
	text, err := json.Marshal(list)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Etag", strconv.Quote(hash("")))
	w.Header().Set("Content-Type", "application/json")
	w.Write(text)
}

func (d *documents) serveGroupVersion(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/openapi/v3/")
	document := d.document(name)
	if document == nil {
		http.NotFound(w, r)
		return
	}
	if r.URL.Query().Get("hash") == hash(name) {
		// A document with its hash may be cached for ever.
		w.Header().Set("Vary", "Accept")
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).Format(time.RFC1123))
	}
	r = r.Clone(r.Context())
	r.URL.RawQuery = ""
	document.ServeHTTP(w, r)
}

// document returns the handler of one group version's document, nil where there is no such group version.
func (d *documents) document(name string) http.Handler {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h, ok := d.written[name]; ok {
		return h
	}
	for _, service := range d.core.Handler.GoRestfulContainer.RegisteredWebServices() {
		if strings.TrimPrefix(service.RootPath(), "/") != name {
			continue
		}
		one := restful.NewContainer()
		one.Add(service)
		m := mux.NewPathRecorderMux("openapi-v3")
		routes.OpenAPI{V3Config: d.v3}.InstallV3(one, m)
		d.written[name] = m
		return m
	}
	return nil
}

func hash(name string) string {
	sum := sha256.Sum256([]byte(kubeversion.Version + "\n" + name))
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}
