package fake

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/operon-dev/operon/pkg/leaderelection"
	"github.com/operon-dev/operon/pkg/recorder"
)

// ControllableResourceLockInterface is a lock that a test can hold up.
type ControllableResourceLockInterface interface {
	resourcelock.Interface

	// BlockLeaderElection makes requests to the lock wait.
	BlockLeaderElection()

	// UnblockLeaderElection lets them through again.
	UnblockLeaderElection()
}

// NewResourceLock returns a lock that whoever asks for it holds already. It is a
// [ControllableResourceLockInterface], and makes no use of its arguments.
func NewResourceLock(_ *rest.Config, _ recorder.Provider, _ leaderelection.Options) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	open := make(chan struct{})
	close(open)
	return &lock{
		identity: host + "_" + string(uuid.NewUUID()),
		open:     open,
	}, nil
}

type lock struct {
	identity string

	mu     sync.Mutex
	open   chan struct{} // closed while requests are let through
	record *resourcelock.LeaderElectionRecord
}

var _ ControllableResourceLockInterface = (*lock)(nil)

func (l *lock) BlockLeaderElection() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.open:
		l.open = make(chan struct{})
	default:
	}
}

func (l *lock) UnblockLeaderElection() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.open:
	default:
		close(l.open)
	}
}

func (l *lock) pass(ctx context.Context) error {
	l.mu.Lock()
	open := l.open
	l.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Get implements resourcelock.Interface.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.pass(ctx); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	record := l.record
	if record == nil {
		now := metav1.Time{Time: time.Now()}
		record = &resourcelock.LeaderElectionRecord{
			HolderIdentity:       l.identity,
			LeaseDurationSeconds: 15,
			AcquireTime:          now,
			RenewTime:            now,
			LeaderTransitions:    1,
		}
	}
	raw, err := json.Marshal(record)
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

// Update implements resourcelock.Interface.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.pass(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record = &record
	return nil
}

// RecordEvent implements resourcelock.Interface.
func (l *lock) RecordEvent(string) {}

// Identity implements resourcelock.Interface.
func (l *lock) Identity() string { return l.identity }

// Describe implements resourcelock.Interface.
func (l *lock) Describe() string { return "fake lock" }
