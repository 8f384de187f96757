package envtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// manifests returns the files a path stands for: itself, or those of a directory in order of their names.
func manifests(path string) ([]string, error) {
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

// eachDocument calls read with every document of a file. Errors say which document they are about.
func eachDocument(file string, read func(what metav1.TypeMeta, document []byte) error) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := readDocument(document, read); err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
	}
}

func readDocument(document []byte, read func(what metav1.TypeMeta, document []byte) error) error {
	var what metav1.TypeMeta
	if err := yaml.Unmarshal(document, &what); err != nil {
		return fmt.Errorf("not a Kubernetes object in YAML or JSON: %w", err)
	}
	return read(what, document)
}

// decode reads a document whose version has to be the one given.
func decode(what metav1.TypeMeta, document []byte, version schema.GroupVersion, into any) error {
	if want := version.String(); what.APIVersion != want {
		return fmt.Errorf("%s of version %s, only %s is served", what.Kind, what.APIVersion, want)
	}
	return yaml.Unmarshal(document, into)
}
