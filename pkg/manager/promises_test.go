package manager

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/config"
)

func TestDefaultsOfAManager(t *testing.T) {
	var o Options
	o.setDefaults()
	for name, tt := range map[string]struct{ got, want any }{
		"LeaseDuration":           {*o.LeaseDuration, 15 * time.Second},
		"RenewDeadline":           {*o.RenewDeadline, 10 * time.Second},
		"RetryPeriod":             {*o.RetryPeriod, 2 * time.Second},
		"GracefulShutdownTimeout": {*o.GracefulShutdownTimeout, 30 * time.Second},
		"ReadinessEndpointName":   {o.ReadinessEndpointName, "/readyz"},
		"LivenessEndpointName":    {o.LivenessEndpointName, "/healthz"},
		"BaseContext":             {o.BaseContext(), context.Background()},
		"LeaderElection":          {o.LeaderElection, false},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %v, want %v", name, tt.got, tt.want)
		}
	}
	if o.Logger.GetSink() == nil {
		t.Error("there is no logger")
	}
}

func TestSettingsOfAManagerAreKept(t *testing.T) {
	zero, minute := time.Duration(0), time.Minute
	o := Options{
		LeaseDuration: &minute, RenewDeadline: &minute, RetryPeriod: &minute, GracefulShutdownTimeout: &zero,
		ReadinessEndpointName: "/ready", LivenessEndpointName: "live/",
	}
	o.setDefaults()
	for name, tt := range map[string]struct{ got, want any }{
		"LeaseDuration":           {*o.LeaseDuration, minute},
		"RenewDeadline":           {*o.RenewDeadline, minute},
		"RetryPeriod":             {*o.RetryPeriod, minute},
		"GracefulShutdownTimeout": {*o.GracefulShutdownTimeout, zero},
		"ReadinessEndpointName":   {o.ReadinessEndpointName, "/ready"},
		"LivenessEndpointName":    {o.LivenessEndpointName, "/live"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %v, want %v", name, tt.got, tt.want)
		}
	}
}

func TestServersAreDisabledByAnEmptyAddressOrZero(t *testing.T) {
	for _, address := range []string{"", "0"} {
		m := offline(t, func(o *Options) { o.HealthProbeBindAddress, o.PprofBindAddress = address, address })
		if m.health != nil || m.pprof != nil || m.metricsServer != nil {
			t.Errorf("address %q: there is a server", address)
		}
	}
}

func TestControllersLogToTheManagersLoggerUnlessToldOtherwise(t *testing.T) {
	mine, theirs := funcr.New(func(string, string) {}, funcr.Options{}), funcr.New(func(string, string) {}, funcr.Options{})
	for name, tt := range map[string]struct {
		controllers logr.Logger
		want        logr.Logger
	}{
		"by default": {logr.Logger{}, mine},
		"told":       {theirs, theirs},
	} {
		m := offline(t, func(o *Options) { o.Logger, o.Controller = mine, config.Controller{Logger: tt.controllers} })
		if m.GetControllerOptions().Logger != tt.want {
			t.Errorf("%s: it is another one", name)
		}
	}
}

// What makes a manager's parts gets the options that are for it, and what it makes is what the manager has.
func TestMakersGetTheirOptions(t *testing.T) {
	scheme := runtime.NewScheme()
	mapper := meta.NewDefaultRESTMapper(nil)
	period := 7 * time.Minute
	var madeCache cache.Cache
	var madeClient client.Client
	m := offline(t, func(o *Options) {
		o.Scheme = scheme
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }
		o.Cache = cache.Options{SyncPeriod: &period}
		o.Client = client.Options{FieldOwner: "me"}
		o.NewCache = func(config *rest.Config, given cache.Options) (cache.Cache, error) {
			if *given.SyncPeriod != period || given.Scheme != scheme || given.Mapper != meta.RESTMapper(mapper) || given.HTTPClient == nil {
				t.Errorf("NewCache got %+v", given)
			}
			made, err := cache.New(config, given)
			madeCache = made
			return made, err
		}
		o.NewClient = func(config *rest.Config, given client.Options) (client.Client, error) {
			if given.FieldOwner != "me" || given.Scheme != scheme || given.Mapper != meta.RESTMapper(mapper) || given.Cache.Reader != client.Reader(madeCache) {
				t.Errorf("NewClient got %+v", given)
			}
			made, err := client.New(config, given)
			madeClient = made
			return made, err
		}
	})
	if m.GetCache() != madeCache || m.GetClient() != madeClient || m.GetScheme() != scheme || m.GetRESTMapper() != meta.RESTMapper(mapper) {
		t.Error("the manager has something else")
	}
	if m.GetFieldIndexer() != client.FieldIndexer(madeCache) {
		t.Error("indexes are not added to the cache")
	}
	if err := m.GetAPIReader().List(t.Context(), &corev1.PodList{}); err == nil {
		t.Error("the API reader did not ask the server, which is not there")
	}
}
