package controllers

import (
	"context"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/dynamic"
	"k8s.io/kubernetes/pkg/controller/storageversionmigrator"
)

// storageMigrations writes the objects that a StorageVersionMigration names anew, and takes from a CustomResourceDefinition's status
// the versions in which nothing is stored any more. It reads what the garbage collector has seen.
func storageMigrations(ctx context.Context, env *environment) (run, error) {
	objects, err := dynamic.NewForConfig(env.config)
	if err != nil {
		return nil, err
	}
	extensions, err := clientset.NewForConfig(env.config)
	if err != nil {
		return nil, err
	}
	migrations := env.informers.Storagemigration().V1().StorageVersionMigrations()
	runs := []run{
		storageversionmigrator.NewSVMController(ctx, env.client, objects, migrations, "storage-version-migrator-controller", env.mapper, env.graph).Run,
		storageversionmigrator.NewResourceVersionController(ctx, env.client, env.discovery, env.metadata, migrations, env.mapper).Run,
		storageversionmigrator.NewCustomResourceController(ctx, env.client, migrations, extensions.ApiextensionsV1().CustomResourceDefinitions()).Run,
	}
	return func(ctx context.Context) {
		var running sync.WaitGroup
		defer running.Wait()
		for _, r := range runs {
			running.Go(func() { r(ctx) })
		}
	}, nil
}
