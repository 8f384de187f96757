package cluster

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
)

var offline = &rest.Config{Host: "http://127.0.0.1:1"}

func TestPartsFitTogether(t *testing.T) {
	var cacheOptions cache.Options
	var clientOptions client.Options
	own := runtime.NewScheme()
	if err := corev1.AddToScheme(own); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	c, err := New(offline, func(o *Options) {
		o.Scheme = own
		o.MapperProvider = func(_ *rest.Config, h *http.Client) (meta.RESTMapper, error) {
			if h == nil {
				t.Error("the mapper got no HTTP client")
			}
			return mapper, nil
		}
		o.Client.Cache = &client.CacheOptions{Unstructured: true, DisableFor: []client.Object{&corev1.Secret{}}}
		o.NewCache = func(c *rest.Config, o cache.Options) (cache.Cache, error) {
			cacheOptions = o
			return cache.New(c, o)
		}
		o.NewClient = func(c *rest.Config, o client.Options) (client.Client, error) {
			clientOptions = o
			return client.New(c, o)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if cacheOptions.Scheme != own || cacheOptions.Mapper != mapper || cacheOptions.HTTPClient != c.GetHTTPClient() {
		t.Errorf("cache options = %+v", cacheOptions)
	}
	if clientOptions.Scheme != own || clientOptions.Mapper != mapper || clientOptions.HTTPClient != c.GetHTTPClient() {
		t.Errorf("client options = %+v", clientOptions)
	}
	if got := clientOptions.Cache; got == nil || got.Reader != client.Reader(c.GetCache()) || !got.Unstructured || len(got.DisableFor) != 1 {
		t.Errorf("client cache options = %+v", got)
	}
	if c.GetScheme() != own || c.GetRESTMapper() != mapper || c.GetFieldIndexer() != client.FieldIndexer(c.GetCache()) {
		t.Error("the cluster does not hand out what it was made of")
	}
	if c.GetAPIReader() == nil || c.GetClient() == nil {
		t.Error("no client")
	}
}

func TestDefaults(t *testing.T) {
	c, err := New(offline)
	if err != nil {
		t.Fatal(err)
	}
	if c.GetScheme() != scheme.Scheme {
		t.Error("the scheme is not client-go's")
	}
	if c.GetConfig() == offline {
		t.Error("the configuration was not copied")
	}
	if diff := cmp.Diff(&rest.Config{Host: offline.Host}, c.GetConfig()); diff != "" {
		t.Errorf("the configuration is not as it was given (-want +got):\n%s", diff)
	}
}

func TestAReaderOfTheUsersOwnIsKept(t *testing.T) {
	mine := struct{ client.Reader }{}
	var got client.Options
	_, err := New(offline, func(o *Options) {
		o.Client.Cache = &client.CacheOptions{Reader: mine}
		o.NewClient = func(c *rest.Config, o client.Options) (client.Client, error) {
			got = o
			return client.New(c, o)
		}
	})
	if err != nil || got.Cache.Reader != client.Reader(mine) {
		t.Errorf("reader = %v, %v", got.Cache, err)
	}
}

func TestErrorsNameThePart(t *testing.T) {
	broken := errors.New("broken")
	for want, change := range map[string]Option{
		"broken": func(o *Options) {
			o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return nil, broken }
		},
		"cache: broken": func(o *Options) {
			o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return nil, broken }
		},
		"client: broken": func(o *Options) {
			o.NewClient = func(*rest.Config, client.Options) (client.Client, error) { return nil, broken }
		},
	} {
		if _, err := New(offline, change); err == nil || err.Error() != want || !errors.Is(err, broken) {
			t.Errorf("error = %v, want %q", err, want)
		}
	}
	if _, err := New(nil); err == nil {
		t.Error("a cluster without a configuration")
	}
	if _, err := New(&rest.Config{Host: "http://x", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nonexistent"}}); err == nil || !strings.Contains(err.Error(), "HTTP client") {
		t.Errorf("error = %v", err)
	}
}

func TestStartRunsUntilItIsStopped(t *testing.T) {
	c, err := New(offline)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	if !c.GetCache().WaitForCacheSync(ctx) {
		t.Error("an empty cache is not filled")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
