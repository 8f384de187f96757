package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// Labels and annotations of the ApplySet specification (KEP-3659).
const (
	labelID       = "applyset.kubernetes.io/id"
	labelPartOf   = "applyset.kubernetes.io/part-of"
	annTooling    = "applyset.kubernetes.io/tooling"
	annKinds      = "applyset.kubernetes.io/contains-group-kinds"
	annNamespaces = "applyset.kubernetes.io/additional-namespaces"
	tooling       = "operon/v1"
)

// A Set names the objects of one tree on one cluster. Namespace holds its record.
type Set struct {
	Namespace, Name string
}

// Definitions is the part of a project that holds its CRDs.
const Definitions = "crds"

// SetOf returns the set of a part of a project, or of the whole operator where part is empty, with its record in the namespace default.
func SetOf(project, part string) Set {
	if part != "" {
		project += "-" + part
	}
	return Set{Namespace: "default", Name: project + "-applyset"}
}

// id is what the specification derives from the record's identity.
func (s Set) id() string {
	sum := sha256.Sum256([]byte(s.Name + "." + s.Namespace + ".ConfigMap."))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

func (s Set) record() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}}
}

// kindsOf returns the group kinds of objects, sorted.
func kindsOf(objects []*unstructured.Unstructured) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, object := range objects {
		kinds = append(kinds, object.GroupVersionKind().GroupKind())
	}
	return sortedKinds(kinds)
}

func sortedKinds(kinds []schema.GroupKind) []schema.GroupKind {
	slices.SortFunc(kinds, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(kinds)
}

// namespacesOf returns the namespaces of objects other than the set's own, sorted.
func (s Set) namespacesOf(objects []*unstructured.Unstructured) []string {
	var namespaces []string
	for _, object := range objects {
		if ns := object.GetNamespace(); ns != "" && ns != s.Namespace {
			namespaces = append(namespaces, ns)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// recorded returns the kinds and further namespaces that the set's record lists; none where there is no record yet.
func (d *Deployer) recorded(ctx context.Context, s Set) (kinds []schema.GroupKind, namespaces []string, err error) {
	record := s.record()
	switch err := d.client.Get(ctx, client.ObjectKeyFromObject(record), record); {
	case apierrors.IsNotFound(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("record of what was deployed, ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
	}
	if record.Labels[labelID] != s.id() {
		return nil, nil, fmt.Errorf("ConfigMap %s/%s is not a record of a deployment: rename it, or deploy under another project name", s.Namespace, s.Name)
	}
	for _, kind := range split(record.Annotations[annKinds]) {
		kinds = append(kinds, schema.ParseGroupKind(kind))
	}
	return kinds, split(record.Annotations[annNamespaces]), nil
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// writeRecord makes the set's record list kinds and namespaces.
func (d *Deployer) writeRecord(ctx context.Context, s Set, kinds []schema.GroupKind, namespaces []string) error {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.String()
	}
	record := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	record.SetNamespace(s.Namespace)
	record.SetName(s.Name)
	record.SetLabels(map[string]string{labelID: s.id()})
	record.SetAnnotations(map[string]string{
		annTooling:    tooling,
		annKinds:      strings.Join(names, ","),
		annNamespaces: strings.Join(namespaces, ","),
	})
	if err := d.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(record), client.ForceOwnership, fieldOwner); err != nil {
		return fmt.Errorf("record of what is deployed, ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
	}
	return nil
}
