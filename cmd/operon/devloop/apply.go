package devloop

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/cmd/operon/deploy"
)

// apply applies a kustomize directory of the project as a part of it, and says what changed. A directory that is not there is nothing to do.
func (l *loop) apply(ctx context.Context, dir, part string) error {
	path := filepath.Join(l.Root, filepath.FromSlash(dir))
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	objects, err := deploy.Render(path)
	if err != nil || len(objects) == 0 {
		return err
	}
	return l.applyObjects(ctx, objects, part)
}

// applyObjects applies objects as a part of the project, unless they are the ones that were applied last: then what a person has since
// changed on the cluster stays.
func (l *loop) applyObjects(ctx context.Context, objects []*unstructured.Unstructured, part string) error {
	if l.webhooks != nil {
		if err := l.webhooks.redirect(objects); err != nil {
			return err
		}
	}
	// What the tree does not place goes where kubectl would put it.
	for _, object := range objects {
		if err := deploy.DefaultNamespace(l.cluster.RESTMapper(), object, "default"); err != nil {
			return err
		}
	}
	encoded, err := json.Marshal(objects)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(encoded)
	if l.applied[part] == digest {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, stepTime, fmt.Errorf("%s have passed", stepTime))
	defer cancel()
	report := deploy.NewReporter(io.Discard, io.Discard, false)
	err = deploy.NewDeployer(l.cluster, report, false).Apply(ctx, deploy.SetOf(l.Name, part), objects, deploy.ApplyOptions{NoWait: true})
	for _, change := range report.Changes() {
		if change.Result != deploy.Unchanged {
			l.say("%s", change)
		}
	}
	if err == nil {
		l.applied[part] = digest
	}
	return err
}
