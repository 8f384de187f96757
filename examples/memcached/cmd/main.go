// Command manager runs the Memcached operator against the cluster of $KUBECONFIG, or the one it runs in.
package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/healthz"
	"github.com/operon-dev/operon/pkg/log/zap"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
	"github.com/operon-dev/operon/examples/memcached/internal/controller"
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(cachev1alpha1.AddToScheme(scheme))
}

func main() {
	var metricsAddr, probeAddr string
	var leaderElect bool
	flag.StringVar(&metricsAddr, "metrics-bind-address", "0",
		"The address the metrics endpoint binds to, for instance :8080. 0 serves no metrics.")
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081",
		"The address the health probes bind to. 0 serves none.")
	flag.BoolVar(&leaderElect, "leader-elect", false,
		"Let only one of several managers be active at a time.")
	logging := zap.Options{Development: true}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Cache:                  controller.CacheOptions(),
		Metrics:                metricsserver.Options{BindAddress: metricsAddr},
		HealthProbeBindAddress: probeAddr,
		LeaderElection:         leaderElect,
		LeaderElectionID:       "memcached.cache.example.com",
	})
	if err != nil {
		fatal(err, "unable to create the manager")
	}
	if err := (&controller.MemcachedReconciler{
		Client:   mgr.GetClient(),
		Scheme:   mgr.GetScheme(),
		Recorder: mgr.GetEventRecorder("memcached-controller"),
	}).SetupWithManager(mgr); err != nil {
		fatal(err, "unable to create the controller", "controller", "Memcached")
	}
	// +kubebuilder:scaffold:builder

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		fatal(err, "unable to set up the health check")
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		fatal(err, "unable to set up the readiness check")
	}

	setupLog.Info("starting manager")
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		fatal(err, "the manager ended with an error")
	}
}

func fatal(err error, msg string, keysAndValues ...any) {
	setupLog.Error(err, msg, keysAndValues...)
	os.Exit(1)
}
