package envtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/operon-dev/operon/pkg/internal/testing/certs"
	"github.com/operon-dev/operon/pkg/internal/testing/process"
)

const (
	certDirPrefix = "operon-envtest-webhook-"
	// The names under which webhook servers look for their certificate.
	servingCertFile, servingKeyFile = "tls.crt", "tls.key"
)

// WebhookInstallOptions say which webhook configurations are installed, and
// where the webhooks are served: by the test, on this machine.
type WebhookInstallOptions struct {
	// Paths name files, or directories of files, that hold
	// MutatingWebhookConfigurations and ValidatingWebhookConfigurations in YAML or
	// JSON. Directories are not searched below their first level; other kinds of objects are passed over.
	Paths []string

	// MutatingWebhooks are installed besides those found in Paths.
	MutatingWebhooks []*admissionv1.MutatingWebhookConfiguration

	// ValidatingWebhooks are installed besides those found in Paths.
	ValidatingWebhooks []*admissionv1.ValidatingWebhookConfiguration

	// IgnoreSchemeConvertible points the conversion of every
	// CustomResourceDefinition that converts by webhook at the local server,
	// whether a scheme knows its types or not.
	IgnoreSchemeConvertible bool

	// IgnoreErrorIfPathMissing passes over a path that does not exist. Without it such a path is an error.
	IgnoreErrorIfPathMissing bool

	// LocalServingHost is the address on which the test serves its webhooks. Empty means 127.0.0.1.
	LocalServingHost string

	// LocalServingPort is the port on which the test serves its webhooks. Zero means one that is free.
	LocalServingPort int

	// LocalServingCertDir is where the serving certificate is put, as tls.crt and
	// tls.key. Empty means a temporary directory that Cleanup removes.
	LocalServingCertDir string

	// LocalServingCAData is the certificate, in PEM, of the authority by which API servers
	// trust the serving certificate. Where it is given, so has to be a
	// LocalServingCertDir that holds such a certificate.
	LocalServingCAData []byte

	// LocalServingHostExternalName is the host name by which the API server
	// reaches the webhooks. Empty means LocalServingHost.
	LocalServingHostExternalName string

	// MaxTime bounds how long is waited for the configurations. Zero means 10 s.
	MaxTime time.Duration

	// PollInterval is the pause between two looks. Zero means 20 ms.
	PollInterval time.Duration

	// temporary is a LocalServingCertDir that Cleanup removes.
	temporary string
}

// PrepWithoutInstalling does everything that Install does but for the
// installation: it reads Paths, chooses host and port, makes certificates and
// points the configurations at the local server. What was prepared already is left as it is.
func (o *WebhookInstallOptions) PrepWithoutInstalling() error {
	if err := o.chooseAddress(); err != nil {
		return fmt.Errorf("address of the local webhook server: %w", err)
	}
	if err := o.makeCertificate(); err != nil {
		return errors.Join(fmt.Errorf("certificate of the local webhook server: %w", err), o.Cleanup())
	}
	if err := o.readPaths(); err != nil {
		return errors.Join(err, o.Cleanup())
	}
	return o.ModifyWebhookDefinitions()
}

// Install creates or updates the webhook configurations, each pointed at the
// local server, and waits until the API server has them.
func (o *WebhookInstallOptions) Install(config *rest.Config) error {
	if err := o.PrepWithoutInstalling(); err != nil {
		return err
	}
	if len(o.MutatingWebhooks)+len(o.ValidatingWebhooks) == 0 {
		return nil
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx := context.Background() // MaxTime is for the waiting
	admission := client.AdmissionregistrationV1()
	for _, c := range o.MutatingWebhooks {
		if err := installConfiguration(ctx, admission.MutatingWebhookConfigurations(), c); err != nil {
			return fmt.Errorf("MutatingWebhookConfiguration %s: %w", c.Name, err)
		}
	}
	for _, c := range o.ValidatingWebhooks {
		if err := installConfiguration(ctx, admission.ValidatingWebhookConfigurations(), c); err != nil {
			return fmt.Errorf("ValidatingWebhookConfiguration %s: %w", c.Name, err)
		}
	}
	return WaitForWebhooks(config, o.MutatingWebhooks, o.ValidatingWebhooks, *o)
}

// Cleanup removes the certificates that were made, and forgets them.
func (o *WebhookInstallOptions) Cleanup() error {
	if o.temporary == "" {
		return nil
	}
	err := os.RemoveAll(o.temporary)
	if o.LocalServingCertDir == o.temporary {
		o.LocalServingCertDir, o.LocalServingCAData = "", nil
	}
	o.temporary = ""
	return err
}

// ModifyWebhookDefinitions points the configurations at the local server: a
// service becomes a URL with its path, and the bundle of authorities is
// LocalServingCAData.
func (o *WebhookInstallOptions) ModifyWebhookDefinitions() error {
	for _, c := range o.MutatingWebhooks {
		for i := range c.Webhooks {
			o.pointHere(&c.Webhooks[i].ClientConfig)
		}
	}
	for _, c := range o.ValidatingWebhooks {
		for i := range c.Webhooks {
			o.pointHere(&c.Webhooks[i].ClientConfig)
		}
	}
	return nil
}

func (o *WebhookInstallOptions) pointHere(c *admissionv1.WebhookClientConfig) {
	c.CABundle = o.LocalServingCAData
	if c.Service == nil {
		return
	}
	path := ""
	if c.Service.Path != nil {
		path = *c.Service.Path
	}
	address := o.url(path)
	c.URL, c.Service = &address, nil
}

// url is where the API server finds the path.
func (o *WebhookInstallOptions) url(path string) string {
	at := process.ListenAddr{Address: o.LocalServingHostExternalName, Port: strconv.Itoa(o.LocalServingPort)}
	if at.Address == "" {
		at.Address = o.LocalServingHost
	}
	return (&url.URL{Scheme: "https", Host: at.HostPort()}).JoinPath(path).String()
}

func (o *WebhookInstallOptions) chooseAddress() error {
	at := process.ListenAddr{Address: o.LocalServingHost, Port: strconv.Itoa(o.LocalServingPort)}
	if err := at.Complete(); err != nil {
		return err
	}
	port, err := strconv.Atoi(at.Port)
	o.LocalServingHost, o.LocalServingPort = at.Address, port
	return err
}

func (o *WebhookInstallOptions) makeCertificate() error {
	if len(o.LocalServingCAData) > 0 {
		return nil
	}
	ca, err := certs.NewTinyCA()
	if err != nil {
		return err
	}
	serving, err := ca.NewServingCert(o.LocalServingHost, o.LocalServingHostExternalName)
	if err != nil {
		return err
	}
	cert, key, err := serving.AsBytes()
	if err != nil {
		return err
	}
	if o.LocalServingCertDir == "" {
		if o.temporary, err = os.MkdirTemp("", certDirPrefix); err != nil {
			return err
		}
		o.LocalServingCertDir = o.temporary
	}
	if err := os.WriteFile(filepath.Join(o.LocalServingCertDir, servingCertFile), cert, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.LocalServingCertDir, servingKeyFile), key, 0o600); err != nil {
		return err
	}
	o.LocalServingCAData = ca.CA.CertBytes()
	return nil
}

func (o *WebhookInstallOptions) maxTime() time.Duration {
	if o.MaxTime == 0 {
		return defaultMaxTime
	}
	return o.MaxTime
}

// A configuration is a webhook configuration of one of the two kinds.
type configuration[C any] interface {
	metav1.Object
	DeepCopy() C
}

// A configurationClient writes webhook configurations of one kind.
type configurationClient[C any] interface {
	Create(ctx context.Context, c C, opts metav1.CreateOptions) (C, error)
	Get(ctx context.Context, name string, opts metav1.GetOptions) (C, error)
	Update(ctx context.Context, c C, opts metav1.UpdateOptions) (C, error)
}

// installConfiguration creates a webhook configuration, or puts it in the place of one of that name.
func installConfiguration[C configuration[C]](ctx context.Context, client configurationClient[C], c C) error {
	_, err := client.Create(ctx, c, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		existing, err := client.Get(ctx, c.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		wanted := c.DeepCopy()
		wanted.SetResourceVersion(existing.GetResourceVersion())
		_, err = client.Update(ctx, wanted, metav1.UpdateOptions{})
		return err
	})
}
