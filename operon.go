package operon

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/builder"
	"github.com/operon-dev/operon/pkg/client/config"
	"github.com/operon-dev/operon/pkg/controller/controllerutil"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/manager/signals"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/scheme"
)

// Builder makes a controller from what it is to reconcile and to watch.
type Builder = builder.Builder

// Manager runs the parts of an operator together.
type Manager = manager.Manager

// Options set up a Manager.
type Options = manager.Options

// Request names the object to reconcile.
type Request = reconcile.Request

// Result is what a reconciler wants to happen next.
type Result = reconcile.Result

// SchemeBuilder registers the Go types of a group's version with a scheme.
//
// Deprecated: packages of API types should need nothing but apimachinery: use
// its runtime.NewSchemeBuilder.
//
//lint:ignore SA1019 it is as deprecated here
type SchemeBuilder = scheme.Builder

// GroupVersion is an API group and a version of it.
type GroupVersion = schema.GroupVersion

// GroupResource is an API group and a resource of it, in no particular version.
type GroupResource = schema.GroupResource

// TypeMeta is the kind and version that API objects carry.
type TypeMeta = metav1.TypeMeta

// ObjectMeta is the metadata that stored API objects carry.
type ObjectMeta = metav1.ObjectMeta

// NewWebhookManagedBy begins the webhooks for objects of type T, which a manager's server is to serve.
func NewWebhookManagedBy[T runtime.Object](mgr manager.Manager, obj T) *builder.WebhookBuilder[T] {
	return builder.WebhookManagedBy(mgr, obj)
}

var (
	// NewManager makes a manager for the cluster that a configuration names.
	NewManager = manager.New

	// NewControllerManagedBy begins a controller that a manager is to run.
	NewControllerManagedBy = builder.ControllerManagedBy

	// GetConfig returns how to reach the API server: from the file that the
	// flag --kubeconfig names, from the one that the environment variable KUBECONFIG names, from the pod
	// the process runs in, or from $HOME/.kube/config, whichever there is first.
	GetConfig = config.GetConfig

	// GetConfigOrDie is GetConfig for main: it logs an error and exits with code 1.
	GetConfigOrDie = config.GetConfigOrDie

	// RegisterFlags declares the flag --kubeconfig in a flag set, if it is not there.
	RegisterFlags = config.RegisterFlags

	// CreateOrUpdate creates an object, or updates it if a function changes what exists.
	CreateOrUpdate = controllerutil.CreateOrUpdate

	// CreateOrPatch creates an object, or patches it if a function changes what exists.
	CreateOrPatch = controllerutil.CreateOrPatch

	// SetControllerReference makes one object the controlling owner of another,
	// which is then deleted with it. It fails if there is another such owner.
	SetControllerReference = controllerutil.SetControllerReference

	// SetupSignalHandler returns a context that ends with SIGTERM or SIGINT. A
	// second signal ends the process with exit code 1.
	SetupSignalHandler = signals.SetupSignalHandler

	// Log is the logger that everything falls back on. It logs nothing before SetLogger is called.
	Log = log.Log

	// SetLogger makes a logger the one behind Log and behind everything derived from Log.
	SetLogger = log.SetLogger

	// LoggerFrom returns the logger in a context. In a reconciler it names the
	// controller and the object that is reconciled.
	LoggerFrom = log.FromContext

	// LoggerInto returns a context that carries a logger.
	LoggerInto = log.IntoContext
)
