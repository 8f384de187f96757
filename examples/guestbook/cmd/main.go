/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

// Command manager runs the controllers and webhooks of guestbook, against the cluster of $KUBECONFIG or the one it runs in.
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
	"github.com/operon-dev/operon/pkg/metrics/filters"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"

	webappv1 "my.domain/guestbook/api/v1"
	"my.domain/guestbook/internal/controller"
	// +kubebuilder:scaffold:imports
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(webappv1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	metrics := metricsserver.Options{FilterProvider: filters.WithAuthenticationAndAuthorization}
	flag.StringVar(&metrics.BindAddress, "metrics-bind-address", "0",
		"The address of the metrics endpoint, as in :8443. 0 means that there is none.")
	flag.BoolVar(&metrics.SecureServing, "metrics-secure", true,
		"Serve metrics over HTTPS, to those who may read them. Otherwise they are for everyone, over HTTP.")
	flag.StringVar(&metrics.CertDir, "metrics-cert-path", "",
		"The directory with tls.crt and tls.key for the metrics endpoint. Without it, it makes a certificate for itself.")
	probeAddr := flag.String("health-probe-bind-address", ":8081", "The address of the health probes.")
	leaderElect := flag.Bool("leader-elect", false, "Let only one of several managers be active at a time.")
	logging := zap.Options{Development: true}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))
	if !metrics.SecureServing {
		metrics.FilterProvider = nil
	}

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metrics,
		HealthProbeBindAddress: *probeAddr,
		LeaderElection:         *leaderElect,
		LeaderElectionID:       "0f5b5e7c.my.domain",
	})
	if err != nil {
		setupLog.Error(err, "no manager")
		os.Exit(1)
	}

	if err := (&controller.GuestbookReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "no controller", "controller", "guestbook")
		os.Exit(1)
	}
	// +kubebuilder:scaffold:builder

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		setupLog.Error(err, "no health check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		setupLog.Error(err, "no readiness check")
		os.Exit(1)
	}

	setupLog.Info("starting the manager")
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "the manager ended with an error")
		os.Exit(1)
	}
}
