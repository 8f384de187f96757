package certificates

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/log"
)

const (
	// fieldManager owns the fields that a Keeper writes.
	fieldManager = "operon-webhook-certificates"

	retryMin = 200 * time.Millisecond
	retryMax = 30 * time.Second

	// placing is the pause between two looks while the bundle is not everywhere.
	placing = time.Second

	// maxWait bounds how long a Keeper relies on its timer: clocks may be set.
	maxWait = time.Hour
)

var secretResource = corev1.SchemeGroupVersion.WithResource("secrets")

// Keeper keeps the certificates of webhooks. It is a runnable of a manager,
// which makes one when its options say so. Its methods may be called by several goroutines at once.
type Keeper struct {
	options Options
	secrets dynamic.ResourceInterface
	targets []*targets

	events  chan struct{} // holds one when there is something to do
	serving atomic.Pointer[tls.Certificate]
	ready   chan struct{} // closed when there is a certificate
	placed  chan struct{} // closed when the bundle has been put in place as well

	last contents // as they were read or written last
}

// New returns a Keeper that does nothing before Start. The HTTP client may be
// nil; it is for a client that is shared with others.
func New(config *rest.Config, httpClient *http.Client, options Options) (*Keeper, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	if httpClient == nil {
		if httpClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("webhook certificates: %w", err)
		}
	}
	client, err := dynamic.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("webhook certificates: %w", err)
	}
	k := &Keeper{
		options: options,
		secrets: client.Resource(secretResource).Namespace(options.Secret.Namespace),
		events:  make(chan struct{}, 1),
		ready:   make(chan struct{}),
		placed:  make(chan struct{}),
	}
	for _, resource := range targetResources {
		k.targets = append(k.targets, &targets{
			resource: resource,
			client:   client.Resource(resource),
			options:  options,
			changed:  k.wake,
			byName:   map[string]target{},
		})
	}
	return k, nil
}

// NeedLeaderElection says no: every replica serves a certificate, and any may renew it.
func (k *Keeper) NeedLeaderElection() bool { return false }

// Started is closed when there is a certificate to serve, and API servers have been told to trust it wherever this process may tell them.
func (k *Keeper) Started() <-chan struct{} { return k.placed }

// GetCertificate returns the certificate to serve. Before there is one, it
// waits as long as the handshake may take. It is for tls.Config.
func (k *Keeper) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if cert := k.serving.Load(); cert != nil {
		return cert, nil
	}
	if hello == nil || hello.Context() == nil {
		return nil, errors.New("webhook certificates: there is none yet")
	}
	select {
	case <-k.ready:
		return k.serving.Load(), nil
	case <-hello.Context().Done():
		return nil, fmt.Errorf("webhook certificates: there is none yet: %w", hello.Context().Err())
	}
}

// Start keeps the certificates until ctx is done. It returns when everything it has started has ended.
func (k *Keeper) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("webhook-certificates").WithValues("secret", k.options.Secret.String())
	var following sync.WaitGroup
	defer following.Wait()
	ctx, cancel := context.WithCancel(log.IntoContext(ctx, logger))
	defer cancel()
	// The errors of these requests come again with the next look at the Secret, which logs them.
	own := fields.OneTermEqualSelector("metadata.name", k.options.Secret.Name).String()
	following.Go(func() { follow(ctx, "secret", k.secrets, own, signal(k.wake), func(error) {}) })
	for _, t := range k.targets {
		following.Go(func() {
			follow(ctx, t.resource.Resource, t.client, "", t, func(err error) { t.refused(logger, err) })
		})
	}

	pause := retryMin
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.events:
		case <-timer.C:
		}
		again, err := k.keep(ctx, logger)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			logger.Error(err, "webhook certificates are not kept up, trying again", "after", pause.String())
			timer.Reset(pause)
			pause = min(2*pause, retryMax)
		default:
			pause = retryMin
			timer.Reset(time.Until(again))
		}
	}
}

// wake has the certificates looked at soon.
func (k *Keeper) wake() {
	select {
	case k.events <- struct{}{}:
	default:
	}
}

// keep looks at everything once: it takes over what the Secret holds, puts the
// bundle in place, and brings the Secret one step further. It returns when to look again.
func (k *Keeper) keep(ctx context.Context, logger logr.Logger) (time.Time, error) {
	stored, err := k.secrets.Get(ctx, k.options.Secret.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		stored, err = nil, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	secret, err := secretOf(stored)
	if err != nil {
		return time.Time{}, err
	}
	now := time.Now()
	current := k.current(logger, contents(secret.Data), now)
	outlook := current.read(now, k.options)
	k.serve(logger, outlook)
	// A target that does not take the bundle holds up the next authority, but no certificate that the present one can renew.
	inPlace, notPut := k.put(ctx, logger, outlook)

	after, again, err := current.advance(now, k.options, inPlace)
	if err != nil {
		return time.Time{}, err
	}
	if !inPlace {
		again = earlier(again, now.Add(placing))
	}
	if maps.EqualFunc(contents(secret.Data), after, func(a, b []byte) bool { return string(a) == string(b) }) {
		k.last = after
		return again, notPut
	}
	secret.Data = after
	err = k.write(ctx, secret, stored == nil)
	switch {
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || stored != nil && apierrors.IsNotFound(err):
		// Another replica was faster. What it has written is what counts.
		return time.Now(), notPut
	case err != nil:
		return time.Time{}, err
	}
	k.last = after // others may act on it before it is seen here again
	logger.Info("webhook certificates stored", "step", describe(outlook, after.read(now, k.options)))
	return time.Now(), notPut
}

// current returns what the Secret holds or, if that is of no use while there
// is still something to serve, what it held, without the authority that is gone.
func (k *Keeper) current(logger logr.Logger, stored contents, now time.Time) contents {
	o := stored.read(now, k.options)
	if o.serving != nil || o.signer != nil || k.last == nil {
		return stored
	}
	if last := k.last.withoutAuthority(); last.read(now, k.options).serving != nil {
		logger.Info("the Secret was lost or damaged, the certificates are made anew", "reason", o.flaw.Error())
		return last
	}
	return stored
}

// serve hands out the certificate from now on.
func (k *Keeper) serve(logger logr.Logger, o *outlook) {
	if o.serving == nil {
		return
	}
	before := k.serving.Swap(o.serving)
	if before == nil {
		close(k.ready)
	}
	if before == nil || !before.Leaf.Equal(o.serving.Leaf) {
		logger.Info("serving a new webhook certificate", "notAfter", o.serving.Leaf.NotAfter, "renewal", due(o.serving.Leaf), "issuer", o.serving.Leaf.Issuer.CommonName)
	}
}

// put puts the bundle in place, and reports whether it was everywhere already.
func (k *Keeper) put(ctx context.Context, logger logr.Logger, o *outlook) (bool, error) {
	bundle := o.bundle()
	if len(bundle) == 0 {
		return false, nil
	}
	all := whereabouts{everywhere: true, wherePossible: true}
	var errs []error
	for _, t := range k.targets {
		found, err := t.put(ctx, logger, bundle)
		all.everywhere = all.everywhere && found.everywhere
		all.wherePossible = all.wherePossible && found.wherePossible
		errs = append(errs, err)
	}
	if all.wherePossible && o.serving != nil {
		select {
		case <-k.placed:
		default:
			close(k.placed)
		}
	}
	return all.everywhere, errors.Join(errs...)
}

// secretOf decodes the Secret, or makes an empty one if there is none.
func secretOf(u *unstructured.Unstructured) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	if u == nil {
		secret.Type = corev1.SecretTypeTLS
		return secret, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, secret); err != nil {
		return nil, fmt.Errorf("webhook certificates: %w", err)
	}
	return secret, nil
}

// write creates or updates the Secret. An update fails if somebody else has changed it since.
func (k *Keeper) write(ctx context.Context, secret *corev1.Secret, create bool) error {
	secret.Namespace, secret.Name = k.options.Secret.Namespace, k.options.Secret.Name
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
	if err != nil {
		return fmt.Errorf("webhook certificates: %w", err)
	}
	u := &unstructured.Unstructured{Object: content}
	if create {
		_, err = k.secrets.Create(ctx, u, metav1.CreateOptions{FieldManager: fieldManager})
	} else {
		_, err = k.secrets.Update(ctx, u, metav1.UpdateOptions{FieldManager: fieldManager})
	}
	return err
}

// describe names what a write has changed.
func describe(before, after *outlook) string {
	switch {
	case before.serving == nil:
		return "first certificate"
	case before.next == nil && after.next != nil:
		return "next authority made"
	case before.known.IsZero() && !after.known.IsZero():
		return "next authority is trusted everywhere"
	case before.next != nil && after.next == nil:
		return "next authority signs"
	}
	return "certificate renewed"
}
