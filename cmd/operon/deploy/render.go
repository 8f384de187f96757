package deploy

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Render builds the kustomization in dir, as kustomize build does, and returns its objects in the order in which they are to
// be applied.
func Render(dir string) ([]*unstructured.Unstructured, error) {
	if !slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && !info.IsDir()
	}) {
		return nil, fmt.Errorf("%s: no kustomization.yaml there: run this in the project's directory, or name the kustomize directory with --dir", dir)
	}
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsRootOnly
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("%s does not build: %w", dir, plain(err))
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		content, err := resource.MarshalJSON()
		object := &unstructured.Unstructured{}
		if err == nil {
			err = object.UnmarshalJSON(content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", dir, resource.CurId(), err)
		}
		objects = append(objects, object)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return objects, nil
}

// missing is how kustomize names a file that is not there, deep in what it says about it.
var missing = regexp.MustCompile(`evalsymlink failure on '([^']+)'`)

// plain has kustomize's error say in one sentence which file it misses, where that is what it says.
func plain(err error) error {
	found := missing.FindAllStringSubmatch(err.Error(), -1)
	if len(found) == 0 {
		return err
	}
	path := found[len(found)-1][1]
	return fmt.Errorf("%s: %w; operon generate writes it if it is made from code, else take it off the list in its kustomization.yaml", path, fs.ErrNotExist)
}

// SetImage makes the containers named container of every Deployment in objects run image. It returns an error where there
// is none, since the caller asked for an image that nothing would run, and where image has a space in it.
func SetImage(objects []*unstructured.Unstructured, container, image string) error {
	if strings.ContainsFunc(image, unicode.IsSpace) {
		return fmt.Errorf("image %q has a space in its name: write it like registry.example.com/memcached-operator:v1.2.0", image)
	}
	found := false
	for _, object := range objects {
		if object.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "apps", Kind: "Deployment"}) {
			continue
		}
		containers, ok, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if !ok || err != nil {
			continue
		}
		for _, c := range containers {
			if c, ok := c.(map[string]any); ok && c["name"] == container {
				c["image"], found = image, true
			}
		}
		if err := unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers"); err != nil {
			return fmt.Errorf("%s: %w", describe(object), err)
		}
	}
	if !found {
		return fmt.Errorf("no Deployment of the tree has a container %q to run %s: name its container with --container", container, image)
	}
	return nil
}

// The order of application: what others live in or are described by, then what others refer to, then what runs, and last
// what makes the API server call it. Kinds that are not listed come between configuration and workloads.
var ranks = map[schema.GroupKind]int{
	{Kind: "Namespace"}: rankNamespace,
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: rankDefinition,
	{Kind: "ServiceAccount"}:                                         10,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:        11,
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:               11,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: 12,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        12,
	{Kind: "ConfigMap"}:                            13,
	{Kind: "Secret"}:                               13,
	{Kind: "PersistentVolumeClaim"}:                14,
	{Kind: "Service"}:                              14,
	{Group: "apps", Kind: "Deployment"}:            rankWorkload,
	{Group: "apps", Kind: "StatefulSet"}:           rankWorkload,
	{Group: "apps", Kind: "DaemonSet"}:             rankWorkload,
	{Group: "batch", Kind: "Job"}:                  rankWorkload,
	{Group: "batch", Kind: "CronJob"}:              rankWorkload,
	{Group: "policy", Kind: "PodDisruptionBudget"}: rankWorkload,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   rankWebhook,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: rankWebhook,
}

const (
	rankNamespace  = 0
	rankDefinition = 1
	rankOther      = 20
	rankWorkload   = 30
	rankWebhook    = 40
)

func rank(object *unstructured.Unstructured) int {
	if r, ok := ranks[object.GroupVersionKind().GroupKind()]; ok {
		return r
	}
	return rankOther
}

// describe names an object for people: its kind, and its namespace and name.
func describe(object *unstructured.Unstructured) string {
	if ns := object.GetNamespace(); ns != "" {
		return object.GetKind() + " " + ns + "/" + object.GetName()
	}
	return object.GetKind() + " " + object.GetName()
}
