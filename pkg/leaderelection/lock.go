package leaderelection

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/operon-dev/operon/pkg/recorder"
)

// namespaceFile tells a process in a pod its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Options set up a lock.
type Options struct {
	// LeaderElection says whether there is to be a lock at all.
	LeaderElection bool

	// LeaderElectionResourceLock is the kind of lock. Empty means "leases",
	// and nothing else is served by Kubernetes any more.
	LeaderElectionResourceLock string

	// LeaderElectionNamespace is the namespace of the lock. Empty means that
	// of the pod the process runs in.
	LeaderElectionNamespace string

	// LeaderElectionID is the name of the lock. It is required.
	LeaderElectionID string

	// RenewDeadline is how long a leader tries to renew the lock before it
	// gives up. Half of it, but no less than a second, is the time-out of each
	// request, so that one that hangs does not cost the leadership. Zero means no time-out.
	RenewDeadline time.Duration

	// LeaderLabels are put on the lock object by the replica that holds it.
	LeaderLabels map[string]string
}

// NewResourceLock returns the lock that the options describe, or nil when they
// ask for none. Every lock has an identity of its own, made of the host name and
// a random part. recorderProvider records the changes of leadership.
func NewResourceLock(config *rest.Config, recorderProvider recorder.Provider, options Options) (resourcelock.Interface, error) {
	if !options.LeaderElection {
		return nil, nil
	}
	if options.LeaderElectionResourceLock == "" {
		options.LeaderElectionResourceLock = resourcelock.LeasesResourceLock
	}
	if options.LeaderElectionID == "" {
		return nil, errors.New("leader election without a name: set LeaderElectionID")
	}
	if options.LeaderElectionNamespace == "" {
		namespace, err := ownNamespace(namespaceFile)
		if err != nil {
			return nil, fmt.Errorf("namespace of the leader election: %w", err)
		}
		options.LeaderElectionNamespace = namespace
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	if options.RenewDeadline != 0 {
		config.Timeout = max(options.RenewDeadline/2, time.Second)
	}
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	coordination, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return resourcelock.NewWithLabels(
		options.LeaderElectionResourceLock,
		options.LeaderElectionNamespace,
		options.LeaderElectionID,
		core,
		coordination,
		resourcelock.ResourceLockConfig{
			Identity: host + "_" + string(uuid.NewUUID()),
			//lint:ignore SA1019 the roles that operators come with allow events of the older API only
			EventRecorder: recorderProvider.GetEventRecorderFor(options.LeaderElectionID),
		},
		options.LeaderLabels,
	)
}

func ownNamespace(file string) (string, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("none is known outside of a cluster, set LeaderElectionNamespace")
	}
	return string(content), err
}
