// Command operator is an operator as one writes it against controller-runtime.
package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/operator/internal/controller"
)

func main() {
	logging := zap.Options{Development: true}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))
	log := ctrl.Log.WithName("setup")

	metrics.Registry.MustRegister(controller.Reconciles)
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		log.Error(err, "scheme")
		os.Exit(1)
	}
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: metricsserver.DefaultBindAddress},
		HealthProbeBindAddress:  ":8081",
		LeaderElection:          true,
		LeaderElectionNamespace: "default",
		LeaderElectionID:        "operator.example.com",
	})
	if err != nil {
		log.Error(err, "manager")
		os.Exit(1)
	}
	if err := controller.SetupWithManager(mgr); err != nil {
		log.Error(err, "controllers")
		os.Exit(1)
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		log.Error(err, "health check")
		os.Exit(1)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		log.Error(err, "end")
		os.Exit(1)
	}
}
