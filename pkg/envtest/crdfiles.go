package envtest

import (
	"errors"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const crdKind = "CustomResourceDefinition"

// ReadCRDFiles reads the files that options.Paths name and adds the
// CustomResourceDefinitions in them to options.CRDs. One whose name is there
// already is not added again, and one without a group or a kind is passed over:
// generators leave such files behind for types that are no kind of their own.
// The error names the file.
func ReadCRDFiles(options *CRDInstallOptions) error {
	known := map[string]bool{}
	var crds []*apiextensionsv1.CustomResourceDefinition
	add := func(crd *apiextensionsv1.CustomResourceDefinition) {
		if !known[crd.Name] {
			known[crd.Name] = true
			crds = append(crds, crd)
		}
	}
	for i, crd := range options.CRDs {
		if crd == nil {
			return fmt.Errorf("CustomResourceDefinition %d of those given is nil", i)
		}
		add(crd)
	}
	for _, path := range options.Paths {
		files, err := manifests(path)
		if errors.Is(err, fs.ErrNotExist) && !options.ErrorIfPathMissing {
			continue
		}
		if err != nil {
			return fmt.Errorf("CustomResourceDefinitions: %w", err)
		}
		for _, file := range files {
			found, err := readCRDs(file)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			for _, crd := range found {
				add(crd)
			}
		}
	}
	options.CRDs = crds
	return nil
}

func readCRDs(file string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	err := eachDocument(file, func(what metav1.TypeMeta, document []byte) error {
		if what.Kind != crdKind {
			return nil
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := decode(what, document, apiextensionsv1.SchemeGroupVersion, crd); err != nil {
			return err
		}
		if crd.Spec.Group != "" && crd.Spec.Names.Kind != "" {
			crds = append(crds, crd)
		}
		return nil
	})
	return crds, err
}
