package envtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

const (
	defaultMaxTime      = 10 * time.Second
	defaultPollInterval = 20 * time.Millisecond
)

// CRDInstallOptions say which CustomResourceDefinitions are installed, and how.
type CRDInstallOptions struct {
	// Scheme is asked whether a definition's kind converts by hub and spokes, in
	// which case its conversion is pointed at the webhook server that WebhookOptions
	// name. Nil means the scheme of client-go.
	Scheme *runtime.Scheme

	// Paths name files, or directories of files, that hold
	// CustomResourceDefinitions in YAML or JSON. Directories are not searched
	// below their first level; other kinds of objects are passed over.
	Paths []string

	// CRDs are installed besides those found in Paths.
	CRDs []*apiextensionsv1.CustomResourceDefinition

	// ErrorIfPathMissing makes a path that does not exist an error. Without it
	// such a path is passed over.
	ErrorIfPathMissing bool

	// MaxTime bounds how long is waited for the definitions to be served, and
	// for earlier ones of the same name to go. Writing them does not count: a
	// server under load may need long for many of them. Zero means 10 s.
	MaxTime time.Duration

	// PollInterval is the pause between two looks. Zero means 20 ms.
	PollInterval time.Duration

	// CleanUpAfterUse makes [Environment.Stop] remove the definitions.
	CleanUpAfterUse bool

	// WebhookOptions name the server that converts: its address, and the
	// authority of its certificate, without which no conversion is changed. An
	// Environment fills them in.
	WebhookOptions WebhookInstallOptions
}

func (o CRDInstallOptions) withDefaults() CRDInstallOptions {
	if o.MaxTime == 0 {
		o.MaxTime = defaultMaxTime
	}
	if o.PollInterval == 0 {
		o.PollInterval = defaultPollInterval
	}
	return o
}

// InstallCRDs creates or updates the definitions that the options name, waits
// until they are served, and returns them as the server answered, before they
// were established. The objects in options are not changed.
func InstallCRDs(config *rest.Config, options CRDInstallOptions) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if err := ReadCRDFiles(&options); err != nil {
		return nil, err
	}
	if len(options.CRDs) == 0 {
		return nil, nil
	}
	var err error
	if options.CRDs, err = convertHere(options.CRDs, options); err != nil {
		return nil, err
	}
	if options.CRDs, err = createCRDs(config, options); err != nil {
		return nil, err
	}
	if err := WaitForCRDs(config, options.CRDs, options); err != nil {
		return nil, err
	}
	return options.CRDs, nil
}

// CreateCRDs creates the definitions, or updates those that exist. It does not
// wait until they are served. The objects passed in are not changed.
func CreateCRDs(config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition) error {
	_, err := createCRDs(config, CRDInstallOptions{CRDs: crds})
	return err
}

// createCRDs returns the server's answers.
func createCRDs(config *rest.Config, options CRDInstallOptions) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	options = options.withDefaults()
	client, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	created := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(options.CRDs))
	for _, crd := range options.CRDs {
		answer, err := createCRD(context.Background(), client.CustomResourceDefinitions(), crd, options)
		if err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err)
		}
		answer.TypeMeta = crd.TypeMeta
		created = append(created, answer)
	}
	return created, nil
}

func createCRD(ctx context.Context, client apiextensionsclient.CustomResourceDefinitionInterface, crd *apiextensionsv1.CustomResourceDefinition, options CRDInstallOptions) (*apiextensionsv1.CustomResourceDefinition, error) {
	// It may come from an earlier installation, whose definition may be gone.
	crd = crd.DeepCopy()
	crd.UID, crd.ResourceVersion = "", ""
	var until time.Time // an earlier one may be going; zero before it is seen
	for {
		answer, err := client.Create(ctx, crd, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return answer, err
		}
		going := false
		err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			existing, err := client.Get(ctx, crd.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if going = existing.DeletionTimestamp != nil; going {
				return nil
			}
			wanted := crd.DeepCopy()
			wanted.ResourceVersion = existing.ResourceVersion
			answer, err = client.Update(ctx, wanted, metav1.UpdateOptions{})
			return err
		})
		switch {
		case apierrors.IsNotFound(err):
			// Gone between the two requests: create it.
		case err != nil:
			return nil, err
		case !going:
			return answer, nil
		default:
			// An earlier one is still being deleted, and an update would go down with it.
			if until.IsZero() {
				until = time.Now().Add(options.MaxTime)
			}
			if time.Now().After(until) {
				return nil, fmt.Errorf("an earlier one of that name is still being deleted after %s: what are its finalizers?", options.MaxTime)
			}
			if err := wait(ctx, options.PollInterval); err != nil {
				return nil, err
			}
		}
	}
}

// UninstallCRDs deletes the definitions that the options name. Those that do
// not exist are passed over. It does not wait until they are gone.
func UninstallCRDs(config *rest.Config, options CRDInstallOptions) error {
	if err := ReadCRDFiles(&options); err != nil {
		return err
	}
	client, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return err
	}
	var errs []error
	for _, crd := range options.CRDs {
		err := client.CustomResourceDefinitions().Delete(context.Background(), crd.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err))
		}
	}
	return errors.Join(errs...)
}

// WaitForCRDs waits until every definition is established and each of its
// served versions appears in discovery, for options.MaxTime at most. Its error
// says which one is missing, and the server's reason if it gave one. The name of
// a definition may be left out: plural and group tell it.
func WaitForCRDs(config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition, options CRDInstallOptions) error {
	options = options.withDefaults()
	client, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), options.MaxTime)
	defer cancel()
	for _, crd := range crds {
		for {
			missing := missingOf(ctx, client.CustomResourceDefinitions(), served, crd)
			if missing == nil {
				break
			}
			if err := wait(ctx, options.PollInterval); err != nil {
				return fmt.Errorf("CustomResourceDefinition %s: not ready within %s: %w", nameOf(crd), options.MaxTime, missing)
			}
		}
	}
	return nil
}

// missingOf returns what keeps a definition from being usable, or nil.
func missingOf(ctx context.Context, client apiextensionsclient.CustomResourceDefinitionInterface, served discovery.DiscoveryInterface, crd *apiextensionsv1.CustomResourceDefinition) error {
	current, err := client.Get(ctx, nameOf(crd), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := established(current); err != nil {
		return err
	}
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		gv := metav1.GroupVersion{Group: crd.Spec.Group, Version: v.Name}.String()
		resources, err := served.ServerResourcesForGroupVersion(gv)
		if err != nil {
			return fmt.Errorf("%s: %w", gv, err)
		}
		if !lists(resources, crd.Spec.Names.Plural) {
			return fmt.Errorf("%s does not serve %s yet", gv, crd.Spec.Names.Plural)
		}
	}
	return nil
}

// nameOf is the name of a definition, which the API server insists on, also where it is not filled in.
func nameOf(crd *apiextensionsv1.CustomResourceDefinition) string {
	if crd.Name != "" {
		return crd.Name
	}
	return crd.Spec.Names.Plural + "." + crd.Spec.Group
}

// established is nil, or why a definition is not established.
func established(crd *apiextensionsv1.CustomResourceDefinition) error {
	reason := "not established yet"
	for _, c := range crd.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
			return nil
		case c.Status == apiextensionsv1.ConditionFalse:
			reason = fmt.Sprintf("%s is false: %s: %s", c.Type, c.Reason, c.Message)
		}
	}
	return errors.New(reason)
}

func lists(resources *metav1.APIResourceList, plural string) bool {
	for _, r := range resources.APIResources {
		if r.Name == plural {
			return true
		}
	}
	return false
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
