package fake

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operon-dev/operon/pkg/leaderelection"
)

func TestTheLockIsHeldAndCanBeHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, err := NewResourceLock(nil, nil, leaderelection.Options{})
		if err != nil {
			t.Fatal(err)
		}
		lock := made.(ControllableResourceLockInterface)
		record, _, err := lock.Get(context.Background())
		if err != nil || record.HolderIdentity != lock.Identity() {
			t.Errorf("Get = %+v, %v", record, err)
		}

		lock.BlockLeaderElection()
		lock.BlockLeaderElection()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, _, err := lock.Get(ctx); err != context.DeadlineExceeded {
			t.Errorf("Get of a blocked lock = %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- lock.Update(context.Background(), *record) }()
		synctest.Wait()
		if len(done) > 0 {
			t.Error("Update of a blocked lock returned")
		}
		lock.UnblockLeaderElection()
		lock.UnblockLeaderElection()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
