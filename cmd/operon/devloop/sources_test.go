package devloop

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func thing(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "loop.example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": name, "namespace": "default"},
	}}
}

func TestOnlySourcesMakeAChange(t *testing.T) {
	for name, want := range map[string]bool{
		"api/v1/thing_types.go":          true,
		"internal/new/deep/x.go":         true,
		"config/crd/bases/x.yaml":        true,
		"PROJECT":                        true,
		"go.sum":                         true,
		"api/v1/thing_types_test.go":     false,
		"README.md":                      false,
		"bin/x.go":                       false,
		".git/index.go":                  false,
		"internal/testdata/x.go":         false,
		"api/v1/.thing_types.go.swp":     false,
		"config/crd/bases/x.yaml.backup": false,
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, "go.mod", "module x\n")
			for _, dir := range []string{"api/v1", "config/crd/bases", "bin", ".git", "internal/testdata"} {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			before, err := takeSnapshot(root)
			if err != nil {
				t.Fatal(err)
			}
			w, err := newWatcher(root)
			if err != nil {
				t.Fatal(err)
			}
			defer w.close()
			write(t, root, name, "content")
			// What is not noticed has a source after it, which is.
			if !want {
				write(t, root, "zz.go", "package x")
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			got, err := w.next(ctx, before)
			if err != nil {
				t.Fatal(err)
			}
			if want && got != filepath.FromSlash(name) || !want && got != "zz.go" {
				t.Errorf("%s has changed", got)
			}
		})
	}
}

func TestAChangeMadeBeforeItIsWaitedForIsNotMissed(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a.go", "package x")
	before, err := takeSnapshot(root)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, "a.go", "package xyz")
	w, err := newWatcher(root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if got, err := w.next(ctx, before); err != nil || got != "a.go" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	root := t.TempDir()
	now, err := takeSnapshot(root)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWatcher(root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*quiet+time.Millisecond)
	defer cancel()
	if name, err := w.next(ctx, now); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q, %v", name, err)
	}
}
