package operon_test

import (
	"context"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/log/zap"
)

// podCounter logs the number of a deployment's pods.
type podCounter struct {
	client.Client
}

func (c *podCounter) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	deployment := &appsv1.Deployment{}
	if err := c.Get(ctx, req.NamespacedName, deployment); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	pods := &corev1.PodList{}
	err := c.List(ctx, pods, client.InNamespace(req.Namespace), client.MatchingLabels(deployment.Spec.Template.Labels))
	if err != nil {
		return ctrl.Result{}, err
	}
	ctrl.LoggerFrom(ctx).Info("counted", "pods", len(pods.Items))
	return ctrl.Result{}, nil
}

// A whole operator: a manager that runs one controller until it is told to stop.
func Example() {
	ctrl.SetLogger(zap.New())
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
	if err != nil {
		ctrl.Log.Error(err, "unable to make the manager")
		os.Exit(1)
	}
	err = ctrl.NewControllerManagedBy(mgr).
		For(&appsv1.Deployment{}).
		Owns(&appsv1.ReplicaSet{}).
		Complete(&podCounter{Client: mgr.GetClient()})
	if err != nil {
		ctrl.Log.Error(err, "unable to make the controller")
		os.Exit(1)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		ctrl.Log.Error(err, "the manager has failed")
		os.Exit(1)
	}
}
