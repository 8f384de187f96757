package devloop

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/cert"

	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
)

const (
	// defaultWebhookPort is where a manager serves its webhooks unless its options say otherwise.
	defaultWebhookPort = 9443
	// certDir is where a manager looks for its certificate, below the directory for temporary files, unless its options say
	// otherwise. Giving the manager a temporary directory of its own is enough for it to find ours.
	certDir = "k8s-webhook-server/serving-certs"
	// manifests is what the generators write the webhook configurations to, below the project's root.
	manifests = "config/webhook/manifests.yaml"
	// webhooksPart is the part of the project that holds its webhook configurations.
	webhooksPart = "webhooks"
	// enableWebhooks is the variable by which the field's scaffolds tell a manager to do without webhooks.
	enableWebhooks = "ENABLE_WEBHOOKS"
)

// webhooks are what the API server is told in order to call a manager on this machine.
type webhooks struct {
	port int
	ca   []byte // PEM
}

// address is where the manager serves them.
func (w *webhooks) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(w.port)) }

// newWebhooks makes a certificate for this machine and puts it where a manager with the temporary directory temp looks for it.
func newWebhooks(temp string, port int) (*webhooks, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, fmt.Errorf("certificate for the webhooks: %w", err)
	}
	dir := filepath.Join(temp, filepath.FromSlash(certDir))
	if err := errors.Join(
		os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600),
	); err != nil {
		return nil, err
	}
	return &webhooks{port: port, ca: certificate}, nil
}

// client returns the client configuration for the service that one of the project's manifests names: the same path, on this machine.
func (w *webhooks) client(inCluster map[string]any) map[string]any {
	path, _, _ := unstructured.NestedString(inCluster, "service", "path")
	return map[string]any{
		"url":      "https://" + w.address() + path,
		"caBundle": base64.StdEncoding.EncodeToString(w.ca),
	}
}

// redirect makes the webhook configurations and the conversions of definitions among objects call this machine.
func (w *webhooks) redirect(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		switch object.GetKind() {
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			hooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
			if err != nil {
				return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
			}
			for _, hook := range hooks {
				if hook, ok := hook.(map[string]any); ok {
					inCluster, _, _ := unstructured.NestedMap(hook, "clientConfig")
					hook["clientConfig"] = w.client(inCluster)
				}
			}
			if err := unstructured.SetNestedSlice(object.Object, hooks, "webhooks"); err != nil {
				return err
			}
		case "CustomResourceDefinition":
			inCluster, ok, err := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig")
			if err != nil || !ok {
				continue
			}
			if err := unstructured.SetNestedMap(object.Object, w.client(inCluster), "spec", "conversion", "webhook", "clientConfig"); err != nil {
				return err
			}
		}
	}
	return nil
}

// readManifests returns the webhook configurations of the project; none where it has none.
func readManifests(root string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(filepath.Join(root, filepath.FromSlash(manifests)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); err != nil {
			if errors.Is(err, io.EOF) {
				return objects, nil
			}
			return nil, fmt.Errorf("%s: %w", manifests, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// await returns when the manager's webhook server answers, or with an error when it does not in time.
func (w *webhooks) await(ctx context.Context, m *manager) error {
	// Whoever has another certificate is another manager, or whatever.
	ours := x509.NewCertPool()
	ours.AppendCertsFromPEM(w.ca)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: ours}}
	for {
		connection, err := dialer.DialContext(ctx, "tcp", w.address())
		if err == nil {
			return connection.Close()
		}
		// Nothing tells when another process begins to listen; so ask again.
		select {
		case <-ctx.Done():
			return fmt.Errorf("the manager does not serve its webhooks at %s; if it serves them elsewhere, say where with --webhook-port: %w", w.address(), err)
		case <-m.ended:
			return errors.New(m.ending())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// placeWebhooks finds a port for the manager's webhooks, once there is something in the project to serve at it: the usual one, unless it is
// in use and the manager can be told of another.
func (l *loop) placeWebhooks() error {
	if l.webhooks == nil || l.placed {
		return nil
	}
	if _, err := os.Stat(filepath.Join(l.Root, filepath.Dir(manifests))); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	mod, err := os.ReadFile(filepath.Join(l.Root, "go.mod"))
	if err != nil {
		return err
	}
	if l.webhooks.port, err = l.ports.instead(l.WebhookPort); err != nil {
		return err
	}
	l.placed = true
	if l.webhooks.port == defaultWebhookPort {
		return nil
	}
	runtime, err := gomodule.RuntimeOf(string(mod))
	if err != nil {
		// On neither library: the manager serves where its own code says.
		l.webhooks.port = l.WebhookPort
		return nil
	}
	if l.webhooks.port != l.WebhookPort {
		l.say("port %d is in use: webhooks are at %s", l.WebhookPort, l.webhooks.address())
	}
	if l.overlay, err = writeOverlay(l.temp, filepath.Join(l.Root, l.Package), runtime.Path); err != nil {
		return err
	}
	l.renewBuilder()
	return nil
}

// register tells the API server to call the manager's webhooks on this machine, once they are served.
func (l *loop) register(ctx context.Context) error {
	objects, err := readManifests(l.Root)
	if err != nil {
		return err
	}
	if len(objects) == 0 && !l.registered {
		return nil
	}
	if l.webhooks == nil {
		l.say("webhooks are off: the API server cannot call this machine, or %s=false is set", enableWebhooks)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	if len(objects) > 0 {
		if err := l.webhooks.await(ctx, l.manager); err != nil {
			return err
		}
	}
	l.registered = true
	return l.applyObjects(ctx, objects, webhooksPart)
}
