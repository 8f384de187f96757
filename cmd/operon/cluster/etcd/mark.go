package etcd

import (
	"context"
	"maps"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Scope says which keys a Mark is about, by the beginnings of their names.
type Scope struct {
	// Prefix is that of all keys that count.
	Prefix string
	// Ignored are those among them that are left alone.
	Ignored []string
	// Volatile are those that come and go with the mark, while their values are left alone.
	Volatile []string
}

func (s Scope) counts(key string) bool {
	return strings.HasPrefix(key, s.Prefix) && !begins(key, s.Ignored)
}

func begins(key string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// A Mark is a state of the store to which Restore goes back. It is used by one goroutine at a time.
type Mark struct {
	scope Scope
	// revisions holds the revision in which each key got the value that it had when the mark was made, or got it back.
	revisions map[string]int64
	values    map[string][]byte
}

// Value is what the key held when the mark was made, nil where there was none.
func (m *Mark) Value(key string) []byte { return m.values[key] }

// Change is what Restore did to one key.
type Change struct {
	// Deleted says that the mark does not have the key. Otherwise it has its value again.
	Deleted bool
	// Revision is the store's after the change.
	Revision int64
}

// Mark remembers what the store holds.
func (s *Server) Mark(ctx context.Context, scope Scope) (*Mark, error) {
	all, err := s.list(ctx, false)
	if err != nil {
		return nil, err
	}
	m := &Mark{scope: scope, revisions: map[string]int64{}, values: map[string][]byte{}}
	for _, kv := range all {
		if key := string(kv.Key); scope.counts(key) {
			m.revisions[key], m.values[key] = kv.ModRevision, kv.Value
		}
	}
	return m, nil
}

// Restore makes the keys of the mark's scope what they were when it was made, and returns what it had to change. Watchers see deletions and
// writes as they see any. What others write meanwhile may be restored or not.
func (s *Server) Restore(ctx context.Context, m *Mark) (map[string]Change, error) {
	now, err := s.list(ctx, true)
	if err != nil {
		return nil, err
	}
	changes := m.differences(now)
	txn, size := &pb.TxnRequest{}, 0
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		op := restoring(key, m.values[key], changes[key].Deleted)
		if n := len(key) + len(m.values[key]); len(txn.Success) == maxTxnOps || size > 0 && size+n > maxTxnBytes {
			if err := s.restore(ctx, m, changes, txn); err != nil {
				return nil, err
			}
			txn, size = &pb.TxnRequest{}, 0
		}
		txn.Success, size = append(txn.Success, op), size+len(key)+len(m.values[key])
	}
	return changes, s.restore(ctx, m, changes, txn)
}

// restore runs one transaction of Restore and notes its revision.
func (s *Server) restore(ctx context.Context, m *Mark, changes map[string]Change, txn *pb.TxnRequest) error {
	if len(txn.Success) == 0 {
		return nil
	}
	done, err := s.etcd.Server.Txn(ctx, txn)
	if err != nil {
		return err
	}
	for _, op := range txn.Success {
		if put := op.GetRequestPut(); put != nil {
			key := string(put.Key)
			m.revisions[key] = done.Header.Revision
			changes[key] = Change{Revision: done.Header.Revision}
			continue
		}
		changes[string(op.GetRequestDeleteRange().Key)] = Change{Deleted: true, Revision: done.Header.Revision}
	}
	return nil
}

// differences are the changes that lead from what there is now to the mark.
func (m *Mark) differences(now []*mvccpb.KeyValue) map[string]Change {
	changes := map[string]Change{}
	there := make(map[string]bool, len(now))
	for _, kv := range now {
		key := string(kv.Key)
		there[key] = true
		revision, known := m.revisions[key]
		switch {
		case !known && m.scope.counts(key):
			changes[key] = Change{Deleted: true}
		case known && revision != kv.ModRevision && !begins(key, m.scope.Volatile):
			changes[key] = Change{}
		}
	}
	for key := range m.revisions {
		if !there[key] {
			changes[key] = Change{}
		}
	}
	return changes
}

func restoring(key string, value []byte, remove bool) *pb.RequestOp {
	if remove {
		return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte(key)}}}
	}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte(key), Value: value}}}
}

func (s *Server) list(ctx context.Context, keysOnly bool) ([]*mvccpb.KeyValue, error) {
	r, err := s.etcd.Server.Range(ctx, &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}, KeysOnly: keysOnly})
	if err != nil {
		return nil, err
	}
	return r.Kvs, nil
}
