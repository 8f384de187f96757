package apiserver

import (
	"context"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// StorePrefix begins the names of all keys that the server writes to the store.
const StorePrefix = "/registry/"

// watched are the resources that the server decides by, from informers of its own, when it admits and authorizes requests.
func (s *Server) watched() map[string]cache.SharedIndexInformer {
	core, rbac, admission := s.informers.Core().V1(), s.informers.Rbac().V1(), s.informers.Admissionregistration().V1()
	return map[string]cache.SharedIndexInformer{
		"namespaces":                      core.Namespaces().Informer(),
		"clusterroles":                    rbac.ClusterRoles().Informer(),
		"clusterrolebindings":             rbac.ClusterRoleBindings().Informer(),
		"roles":                           rbac.Roles().Informer(),
		"rolebindings":                    rbac.RoleBindings().Informer(),
		"mutatingwebhookconfigurations":   admission.MutatingWebhookConfigurations().Informer(),
		"validatingwebhookconfigurations": admission.ValidatingWebhookConfigurations().Informer(),
	}
}

// CaughtUp returns when the server knows of a change that was made in its store. deleted says that the key is gone; otherwise it was
// written in that revision, or will be in a later one. Reads through the API need not wait for anything; what the server
// admits and authorizes by does, and CaughtUp returns at once for everything else.
func (s *Server) CaughtUp(ctx context.Context, key string, deleted bool, revision int64) error {
	resource, name, _ := strings.Cut(strings.TrimPrefix(key, StorePrefix), "/")
	informer := s.watched()[resource]
	if informer == nil || !informer.HasSynced() {
		return nil
	}
	for !knows(informer.GetStore(), name, deleted, revision) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

func knows(store cache.Store, name string, deleted bool, revision int64) bool {
	obj, there, err := store.GetByKey(name)
	if err != nil || !there {
		return deleted
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return true
	}
	seen, err := strconv.ParseInt(accessor.GetResourceVersion(), 10, 64)
	return err != nil || seen >= revision && !deleted || seen > revision
}
