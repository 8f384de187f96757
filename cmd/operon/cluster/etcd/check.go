package etcd

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
)

// checkDatabase reads every page of the database, because etcd itself would meet a bad one with a panic, or a fault on memory mapped
// beyond the end of a truncated file, in a goroutine where nobody can catch it. A missing file is fine.
func checkDatabase(path string) (err error) {
	switch info, statErr := os.Stat(path); {
	case errors.Is(statErr, os.ErrNotExist):
		return nil
	case statErr == nil && info.Size() == 0:
		return errors.New("database: is empty")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("database: %v", p)
		}
	}()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	defer db.Close()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > info.Size() {
			return fmt.Errorf("database: has %d bytes, needs %d", info.Size(), tx.Size())
		}
		return tx.ForEach(func(_ []byte, bucket *bbolt.Bucket) error {
			return bucket.ForEach(func(_, _ []byte) error { return nil })
		})
	})
}
