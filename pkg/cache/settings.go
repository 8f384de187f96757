package cache

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client/apiutil"
)

const defaultSyncPeriod = 10 * time.Hour

// settings are what holds for one feed once all defaults have been applied.
type settings struct {
	namespace string   // metav1.NamespaceAll for all, or the rest
	except    []string // namespaces that have feeds of their own
	Config
}

// byKind are the options of ByObject by the kinds they are for.
func (o *Options) byKind() (map[schema.GroupVersionKind]ByObject, error) {
	m := map[schema.GroupVersionKind]ByObject{}
	for obj, by := range o.ByObject {
		gvk, err := apiutil.GVKForObject(obj, o.Scheme)
		if err != nil {
			return nil, fmt.Errorf("options by object: %w", err)
		}
		if _, twice := m[gvk]; twice {
			return nil, fmt.Errorf("options by object: %s is there twice", gvk)
		}
		m[gvk] = by
	}
	return m, nil
}

// settingsOf are the settings of the feeds of a resource. restricted says that without default namespaces there are none,
// and not all.
func (o *Options) settingsOf(r *resource, by ByObject, restricted bool) ([]settings, error) {
	byObject := Config{
		LabelSelector: by.Label, FieldSelector: by.Field, Transform: by.Transform, UnsafeDisableDeepCopy: by.UnsafeDisableDeepCopy,
		EnableWatchBookmarks: by.EnableWatchBookmarks, SyncPeriod: by.SyncPeriod,
	}
	defaults := Config{
		LabelSelector: o.DefaultLabelSelector, FieldSelector: o.DefaultFieldSelector, Transform: o.DefaultTransform,
		UnsafeDisableDeepCopy: o.DefaultUnsafeDisableDeepCopy, EnableWatchBookmarks: o.DefaultEnableWatchBookmarks,
		SyncPeriod: o.SyncPeriod,
	}
	if !r.namespaced {
		if by.Namespaces != nil {
			return nil, fmt.Errorf("options by object: %s has no namespaces to choose from", r.gvk.Kind)
		}
		return []settings{{Config: firstOf(byObject, defaults)}}, nil
	}
	namespaces := by.Namespaces
	all := len(namespaces) == 0
	if namespaces == nil {
		namespaces = o.DefaultNamespaces
		all = len(namespaces) == 0 && !restricted
	}
	if all {
		return []settings{{Config: firstOf(byObject, defaults)}}, nil
	}
	var each []settings
	for namespace := range namespaces {
		s := settings{namespace: namespace, Config: firstOf(by.Namespaces[namespace], byObject, o.DefaultNamespaces[namespace], defaults)}
		if namespace == metav1.NamespaceAll {
			for other := range namespaces {
				if other != namespace {
					s.except = append(s.except, other)
				}
			}
		}
		each = append(each, s)
	}
	return each, nil
}

// firstOf takes each setting from the first level that has it.
func firstOf(levels ...Config) Config {
	var c Config
	for _, l := range levels {
		if c.LabelSelector == nil {
			c.LabelSelector = l.LabelSelector
		}
		if c.FieldSelector == nil {
			c.FieldSelector = l.FieldSelector
		}
		if c.Transform == nil {
			c.Transform = l.Transform
		}
		if c.UnsafeDisableDeepCopy == nil {
			c.UnsafeDisableDeepCopy = l.UnsafeDisableDeepCopy
		}
		if c.EnableWatchBookmarks == nil {
			c.EnableWatchBookmarks = l.EnableWatchBookmarks
		}
		if c.SyncPeriod == nil {
			c.SyncPeriod = l.SyncPeriod
		}
	}
	return c
}

// serverFields is the field selector the API server is asked with; nil for none.
func (s *settings) serverFields() fields.Selector {
	var all []fields.Selector
	if s.FieldSelector != nil && !s.FieldSelector.Empty() {
		if matchesNothing(s.FieldSelector) {
			return s.FieldSelector // with others it would lose its meaning
		}
		all = append(all, s.FieldSelector)
	}
	for _, namespace := range s.except {
		all = append(all, fields.OneTermNotEqualSelector(fieldNamespace, namespace))
	}
	if len(all) == 0 {
		return nil
	}
	return fields.AndSelectors(all...)
}

func (s *settings) syncPeriod() time.Duration {
	if s.SyncPeriod == nil {
		return defaultSyncPeriod
	}
	return *s.SyncPeriod
}

// syncPeriod is the period for handlers that ask for none of their own.
func (s *store) syncPeriod() time.Duration {
	var shortest time.Duration
	for _, f := range s.feeds() {
		if p := f.syncPeriod(); p > 0 && (shortest == 0 || p < shortest) {
			shortest = p
		}
	}
	return shortest
}

// sharesWithReaders says whether reads of a namespace, or of all, hand out the cached objects themselves.
func (s *store) sharesWithReaders(namespace string) bool {
	if namespace != metav1.NamespaceAll {
		f := s.feedFor(namespace)
		return f != nil && f.UnsafeDisableDeepCopy != nil && *f.UnsafeDisableDeepCopy
	}
	all := s.feeds()
	for _, f := range all {
		if f.UnsafeDisableDeepCopy == nil || !*f.UnsafeDisableDeepCopy {
			return false
		}
	}
	return len(all) > 0
}

// covers says whether a namespace can be read.
func (s *store) covers(namespace string) bool {
	f := s.feedFor(namespace)
	return f != nil && f.filled.isOpen()
}
