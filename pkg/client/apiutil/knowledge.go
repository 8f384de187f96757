package apiutil

import (
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// scope is how much of the server's API a lookup has to know: one version of a group, a whole group (version is empty),
// or everything.
type scope struct {
	everything     bool
	group, version string
}

func kindScope(gk schema.GroupKind, versions []string) scope {
	s := scope{group: gk.Group}
	// Which of several versions is the first that the server has is a question about the group.
	if len(versions) == 1 {
		s.version = versions[0]
	}
	return s
}

func resourceScope(gvr schema.GroupVersionResource) scope {
	if gvr.Group == "" {
		// In a partial resource the empty group stands for any.
		return scope{everything: true}
	}
	return scope{group: gvr.Group, version: gvr.Version}
}

// knowledge is what is known of the server's API. It is never changed: learning makes a new one.
type knowledge struct {
	groups   map[string]*group
	order    []string        // of the groups, as the server lists them
	complete bool            // every group that the server listed is there
	all      meta.RESTMapper // of all groups; nil unless complete
}

type group struct {
	resources restmapper.APIGroupResources
	complete  bool // all versions are there
	mapper    meta.RESTMapper
}

var noGroup = restmapper.NewDiscoveryRESTMapper(nil)

// mapper returns a mapper of what is known within s, and whether that is all there was when it was learned.
func (k *knowledge) mapper(s scope) (meta.RESTMapper, bool) {
	if s.everything {
		if !k.complete {
			return noGroup, false
		}
		return k.all, true
	}
	g, ok := k.groups[s.group]
	if !ok {
		return noGroup, false
	}
	if g.complete {
		return g.mapper, true
	}
	_, has := g.resources.VersionedResources[s.version]
	return g.mapper, has
}

// learned is the server's answer about a scope: the groups in it, none if it does not have them.
type learned struct {
	groups []*restmapper.APIGroupResources
	failed map[string]bool // groups of which some version could not be asked about
}

// with returns k together with what has been learned about s.
func (k *knowledge) with(s scope, l *learned) *knowledge {
	next := &knowledge{groups: maps.Clone(k.groups), order: slices.Clone(k.order), complete: k.complete}
	if next.groups == nil {
		next.groups = map[string]*group{}
	}
	switch {
	case s.everything:
		next.groups, next.order = map[string]*group{}, nil
		for _, r := range l.groups {
			name := r.Group.Name
			if before, ok := k.groups[name]; ok && l.failed[name] {
				next.put(before)
				continue
			}
			next.put(newGroup(*r, !l.failed[name]))
		}
		// Where a group could not be asked about, asking again at every lookup would not help the others.
		next.complete = true
	case s.version == "":
		if len(l.groups) == 0 {
			next.forget(s.group)
		}
		for _, r := range l.groups {
			next.put(newGroup(*r, !l.failed[s.group]))
		}
	default:
		var r restmapper.APIGroupResources
		complete := false
		if g, ok := next.groups[s.group]; ok {
			r, complete = g.resources, g.complete
		}
		next.put(newGroup(withVersion(r, s, l), complete))
	}
	if next.complete {
		var all []*restmapper.APIGroupResources
		for _, name := range next.order {
			all = append(all, &next.groups[name].resources)
		}
		next.all = restmapper.NewDiscoveryRESTMapper(all)
	}
	return next
}

func (k *knowledge) forget(name string) {
	delete(k.groups, name)
	k.order = slices.DeleteFunc(k.order, func(n string) bool { return n == name })
}

func (k *knowledge) put(g *group) {
	name := g.resources.Group.Name
	if _, ok := k.groups[name]; !ok {
		k.order = append(k.order, name)
	}
	k.groups[name] = g
}

func newGroup(r restmapper.APIGroupResources, complete bool) *group {
	return &group{
		resources: r,
		complete:  complete,
		mapper:    restmapper.NewDiscoveryRESTMapper([]*restmapper.APIGroupResources{&r}),
	}
}

// withVersion returns r with the one version of s as it was learned: there, or not there.
func withVersion(r restmapper.APIGroupResources, s scope, l *learned) restmapper.APIGroupResources {
	out := restmapper.APIGroupResources{Group: r.Group, VersionedResources: maps.Clone(r.VersionedResources)}
	out.Group.Name = s.group
	out.Group.Versions = slices.Clone(r.Group.Versions)
	if out.VersionedResources == nil {
		out.VersionedResources = map[string][]metav1.APIResource{}
	}
	delete(out.VersionedResources, s.version)
	for _, g := range l.groups {
		out.VersionedResources[s.version] = g.VersionedResources[s.version]
	}
	listed := slices.ContainsFunc(out.Group.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.Version == s.version })
	if !listed && len(l.groups) > 0 {
		out.Group.Versions = append(out.Group.Versions, versionForDiscovery(s.group, s.version))
	}
	return out
}

func versionForDiscovery(group, version string) metav1.GroupVersionForDiscovery {
	return metav1.GroupVersionForDiscovery{
		GroupVersion: schema.GroupVersion{Group: group, Version: version}.String(),
		Version:      version,
	}
}

// source asks the server.
type source struct {
	client *discovery.DiscoveryClient
}

// fetch asks the server about s. What it could learn it returns also with an error.
func (f *source) fetch(ctx context.Context, s scope) (*learned, error) {
	switch {
	case s.everything:
		return f.everything(ctx)
	case s.version == "":
		return f.group(ctx, s.group)
	default:
		return f.versions(ctx, metav1.APIGroup{
			Name:     s.group,
			Versions: []metav1.GroupVersionForDiscovery{versionForDiscovery(s.group, s.version)},
		})
	}
}

func (f *source) everything(ctx context.Context) (*learned, error) {
	groups, lists, err := f.client.ServerGroupsAndResourcesWithContext(ctx)
	failed := ErrResourceDiscoveryFailed{}
	if err != nil {
		partial, ok := discovery.GroupDiscoveryFailedErrorGroups(err)
		if !ok {
			return nil, err
		}
		for gv, err := range partial {
			failed.add(gv, err)
		}
	}
	resources := map[string][]metav1.APIResource{}
	for _, list := range lists {
		resources[list.GroupVersion] = list.APIResources
	}
	l := &learned{failed: failed.groups()}
	for _, g := range groups {
		r := &restmapper.APIGroupResources{Group: *g, VersionedResources: map[string][]metav1.APIResource{}}
		for _, v := range g.Versions {
			if found, ok := resources[v.GroupVersion]; ok {
				r.VersionedResources[v.Version] = found
			}
		}
		l.groups = append(l.groups, r)
	}
	return l, failed.orNil()
}

func (f *source) group(ctx context.Context, name string) (*learned, error) {
	group := metav1.APIGroup{
		// The core group has no document of its own.
		Versions: []metav1.GroupVersionForDiscovery{versionForDiscovery("", "v1")},
	}
	if name != "" {
		err := f.client.RESTClient().Get().AbsPath("/apis", name).Do(ctx).Into(&group)
		if apierrors.IsNotFound(err) {
			return &learned{}, nil
		}
		if err != nil {
			failed := ErrResourceDiscoveryFailed{{Group: name}: err}
			return nil, &failed
		}
	}
	return f.versions(ctx, group)
}

// versions asks about each version of g.
func (f *source) versions(ctx context.Context, g metav1.APIGroup) (*learned, error) {
	failed := ErrResourceDiscoveryFailed{}
	r := &restmapper.APIGroupResources{Group: g, VersionedResources: map[string][]metav1.APIResource{}}
	for _, v := range g.Versions {
		list, err := f.client.ServerResourcesForGroupVersionWithContext(ctx, v.GroupVersion)
		switch {
		case apierrors.IsNotFound(err):
			// It is not there, which is an answer.
		case err != nil:
			failed.add(schema.GroupVersion{Group: g.Name, Version: v.Version}, err)
		default:
			r.VersionedResources[v.Version] = list.APIResources
		}
	}
	if len(r.VersionedResources) == 0 {
		if len(failed) > 0 {
			return nil, failed.orNil()
		}
		return &learned{}, nil
	}
	return &learned{groups: []*restmapper.APIGroupResources{r}, failed: failed.groups()}, failed.orNil()
}

func (e ErrResourceDiscoveryFailed) add(gv schema.GroupVersion, err error) {
	if apierrors.IsNotFound(err) {
		err = &meta.NoResourceMatchError{PartialResource: gv.WithResource("")}
	}
	e[gv] = err
}

func (e ErrResourceDiscoveryFailed) groups() map[string]bool {
	groups := map[string]bool{}
	for gv := range e {
		groups[gv.Group] = true
	}
	return groups
}

func (e ErrResourceDiscoveryFailed) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return &e
}
