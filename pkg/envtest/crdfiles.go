package envtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const crdKind = "CustomResourceDefinition"

// ReadCRDFiles reads the files that options.Paths name and adds the
// CustomResourceDefinitions in them to options.CRDs. One whose name is there
// already is not added again. The error names the file.
func ReadCRDFiles(options *CRDInstallOptions) error {
	known := map[string]bool{}
	var crds []*apiextensionsv1.CustomResourceDefinition
	add := func(crd *apiextensionsv1.CustomResourceDefinition) {
		if !known[crd.Name] {
			known[crd.Name] = true
			crds = append(crds, crd)
		}
	}
	for _, crd := range options.CRDs {
		add(crd)
	}
	for _, path := range options.Paths {
		files, err := crdFiles(path)
		if errors.Is(err, fs.ErrNotExist) && !options.ErrorIfPathMissing {
			continue
		}
		if err != nil {
			return err
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

// crdFiles returns the files a path stands for: itself, or those of a directory in order of their names.
func crdFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		switch filepath.Ext(entry.Name()) {
		case ".yaml", ".yml", ".json":
			if !entry.IsDir() {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
	}
	return files, nil
}

func readCRDs(file string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return crds, nil
		}
		if err != nil {
			return nil, err
		}
		var what metav1.TypeMeta
		if err := yaml.Unmarshal(document, &what); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if what.Kind != crdKind {
			continue
		}
		if want := apiextensionsv1.SchemeGroupVersion.String(); what.APIVersion != want {
			return nil, fmt.Errorf("document %d: %s of version %s, only %s is served", n, crdKind, what.APIVersion, want)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(document, crd); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		crds = append(crds, crd)
	}
}
