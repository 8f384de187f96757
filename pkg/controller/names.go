package controller

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/operon-dev/operon/pkg/manager"
)

// names are the controllers' names that are taken. They belong to the registry in which the names are labels,
// and each manager has its own.
type names struct {
	mu    sync.Mutex
	taken map[ownedName]struct{}
}

type ownedName struct {
	owner any // a manager, or nil
	name  string
}

// reserve takes a name until release is called.
func (n *names) reserve(mgr manager.Manager, name string) (release func(), err error) {
	key := ownedName{name: name}
	if mgr != nil && reflect.ValueOf(mgr).Comparable() {
		key.owner = mgr
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, taken := n.taken[key]; taken {
		return nil, fmt.Errorf("controller name %s is taken: names are to be unique, since metrics and logs tell "+
			"controllers apart by them (the option SkipNameValidation allows it)", name)
	}
	if n.taken == nil {
		n.taken = map[ownedName]struct{}{}
	}
	n.taken[key] = struct{}{}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.taken, key)
	}, nil
}
