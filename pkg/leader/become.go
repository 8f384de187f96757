package leader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/config"
	"github.com/operon-dev/operon/pkg/log"
)

const (
	podNameVariable = "POD_NAME"

	// namespaceFile tells a process in a pod its namespace.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

	firstBackoff      = time.Second
	defaultMaxBackoff = 16 * time.Second
)

// ErrNoNamespace is the error of Become where the pod is known and its namespace is not.
var ErrNoNamespace = errors.New("namespace not found for current environment: the pod has no service account token, set WithNamespace")

// Config is what Become works with.
type Config struct {
	// Client reads the pods, nodes and the lock, and writes the lock. It must not read from a cache. Nil means
	// one for the API server that the environment names.
	Client client.Client

	// MaxBackoffInterval is the longest pause between two attempts. They begin with a second, and double. Zero means 16 s.
	MaxBackoffInterval time.Duration

	// Namespace is that of the pod and the lock. Empty means that of the pod that the process runs in.
	Namespace string

	// PodName is the name of the pod that is to lead. Empty means the value of the environment variable POD_NAME.
	PodName string
}

// Option changes a Config, or fails.
type Option func(*Config) error

// WithClient sets the Client.
func WithClient(cl client.Client) Option {
	return func(c *Config) error {
		c.Client = cl
		return nil
	}
}

// WithMaxBackoffInterval sets MaxBackoffInterval.
func WithMaxBackoffInterval(d time.Duration) Option {
	return func(c *Config) error {
		if d < 0 {
			return fmt.Errorf("negative backoff interval %s", d)
		}
		c.MaxBackoffInterval = d
		return nil
	}
}

// WithNamespace sets the Namespace.
func WithNamespace(namespace string) Option {
	return func(c *Config) error {
		c.Namespace = namespace
		return nil
	}
}

// WithPodName sets the PodName.
func WithPodName(name string) Option {
	return func(c *Config) error {
		c.PodName = name
		return nil
	}
}

// Become returns nil when the pod this process runs in leads, which it does until it is gone. It returns an error
// when it never can, or when ctx ends; that wraps ctx.Err().
//
// Outside of a cluster, where there is neither a pod's name nor a namespace, it returns nil at once: whoever runs an
// operator on a workstation leads.
func Become(ctx context.Context, lockName string, opts ...Option) error {
	var c Config
	for _, opt := range opts {
		if err := opt(&c); err != nil {
			return fmt.Errorf("leader lock %s: %w", lockName, err)
		}
	}
	inCluster, err := c.setDefaults()
	if err != nil {
		return fmt.Errorf("leader lock %s: %w", lockName, err)
	}
	logger := log.FromContext(ctx).WithName("leader").WithValues("lock", lockName)
	if !inCluster {
		logger.Info("Not running in a cluster: leading without an election")
		return nil
	}
	if err := c.become(log.IntoContext(ctx, logger), lockName); err != nil {
		return fmt.Errorf("leader lock %s/%s: %w", c.Namespace, lockName, err)
	}
	return nil
}

func (c *Config) setDefaults() (inCluster bool, err error) {
	if c.PodName == "" {
		c.PodName = os.Getenv(podNameVariable)
	}
	if c.Namespace == "" {
		content, err := os.ReadFile(namespaceFile)
		switch {
		case err == nil:
			c.Namespace = strings.TrimSpace(string(content))
		case !errors.Is(err, fs.ErrNotExist):
			return false, err
		case c.PodName == "":
			return false, nil
		default:
			return false, ErrNoNamespace
		}
	}
	if c.PodName == "" {
		return false, errors.New("the name of the pod is unknown: set the environment variable " + podNameVariable +
			" to the field metadata.name in the pod's template")
	}
	if c.MaxBackoffInterval == 0 {
		c.MaxBackoffInterval = defaultMaxBackoff
	}
	if c.Client == nil {
		rest, err := config.GetConfig()
		if err != nil {
			return false, err
		}
		if c.Client, err = client.New(rest, client.Options{}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// become tries until it leads, it never can, or ctx ends.
func (c *Config) become(ctx context.Context, lockName string) error {
	self := &corev1.Pod{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.PodName}, self); err != nil {
		return err
	}
	pauses := wait.Backoff{Duration: min(firstBackoff, c.MaxBackoffInterval), Factor: 2, Jitter: 0.2, Steps: 60, Cap: c.MaxBackoffInterval}
	told := ""
	freed := false // the last attempt was not waited for
	for {
		leads, waitsFor, err := c.attempt(ctx, lockName, self)
		switch {
		case leads:
			log.FromContext(ctx).Info("Became the leader", "pod", self.Name)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !passes(err):
			return err
		case err != nil:
			log.FromContext(ctx).Error(err, "Cannot tell who leads, trying again")
		case waitsFor != "" && waitsFor != told:
			log.FromContext(ctx).Info("Waiting to become the leader", "for", waitsFor)
			told = waitsFor
		case waitsFor == "" && !freed:
			// The lock was there a moment ago, and is not any more; unless a finalizer holds it, which the next attempt shows.
			freed = true
			continue
		}
		freed = false
		pause := time.NewTimer(pauses.Step())
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

// passes says whether an error may be gone the next time: all may that are not about who asks, or what for.
func passes(err error) bool {
	return !errors.Is(err, errForeign) && !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) &&
		!apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err)
}

var errForeign = errors.New("there is a ConfigMap of this name that no pod owns: it is not a leader's lock")

// attempt tries once to get the lock. Without success it says for whom it has to wait; for nobody, if the lock has
// been freed.
func (c *Config) attempt(ctx context.Context, lockName string, self *corev1.Pod) (leads bool, waitsFor string, err error) {
	lock := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.Namespace,
		Name:      lockName,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Pod", Name: self.Name, UID: self.UID,
		}},
	}}
	if err := c.Client.Create(ctx, lock); !apierrors.IsAlreadyExists(err) {
		return err == nil, "", err
	}
	held := &corev1.ConfigMap{}
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(lock), held); err != nil {
		return false, "", client.IgnoreNotFound(err)
	}
	holder, ok := podOf(held)
	if !ok {
		return false, "", errForeign
	}
	if holder.UID == self.UID {
		return true, "", nil
	}
	over, why, err := c.isOver(ctx, holder)
	if err != nil || !over {
		return false, "pod " + holder.Name, err
	}
	log.FromContext(ctx).Info("Taking over from a leader that cannot run any more", "leader", holder.Name, "reason", why)
	// Another candidate may have been quicker: only this lock is deleted, no later one of its name.
	uid := held.UID
	err = c.Client.Delete(ctx, held, client.Preconditions{UID: &uid})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		err = nil
	}
	return false, "", err
}

// podOf is the pod that owns a lock.
func podOf(lock *corev1.ConfigMap) (metav1.OwnerReference, bool) {
	for _, ref := range lock.OwnerReferences {
		if ref.Kind == "Pod" && ref.APIVersion == corev1.SchemeGroupVersion.String() {
			return ref, true
		}
	}
	return metav1.OwnerReference{}, false
}

// isOver says whether a leader's pod cannot run any more, and why.
func (c *Config) isOver(ctx context.Context, holder metav1.OwnerReference) (over bool, why string, err error) {
	pod := &corev1.Pod{}
	err = c.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: holder.Name}, pod)
	switch {
	case apierrors.IsNotFound(err), err == nil && pod.UID != holder.UID:
		return true, "the pod does not exist any more", nil
	case err != nil:
		return false, "", err
	case pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		// Containers of a pod that has come to this are not started again. Evicted and Preempting are such reasons.
		why = "the pod has ended"
		if pod.Status.Reason != "" {
			why += ": " + pod.Status.Reason
		}
		return true, why, nil
	case pod.Spec.NodeName == "":
		return false, "", nil
	}
	node := &corev1.Node{}
	err = c.Client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node)
	switch {
	case apierrors.IsNotFound(err):
		return true, "node " + pod.Spec.NodeName + " does not exist any more", nil
	case apierrors.IsForbidden(err):
		log.FromContext(ctx).V(1).Info("Not allowed to look at the leader's node: Kubernetes will delete its pod if it is gone", "node", pod.Spec.NodeName)
		return false, "", nil
	case err != nil:
		return false, "", err
	}
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeOutOfService {
			return true, "node " + node.Name + " is out of service", nil
		}
	}
	return false, "", nil
}
