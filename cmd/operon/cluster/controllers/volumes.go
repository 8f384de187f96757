package controllers

import (
	"context"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/volume/ephemeral"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	"k8s.io/kubernetes/pkg/controller/volume/vacprotection"
)

// persistentVolumeBinder binds claims to volumes. It has no volume plugins: volumes are made by hand or by an external
// provisioner, such as simulatedVolumes.
func persistentVolumeBinder(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
		KubeClient:                env.client,
		SyncPeriod:                15 * time.Second,
		VolumeInformer:            core.PersistentVolumes(),
		ClaimInformer:             core.PersistentVolumeClaims(),
		ClassInformer:             env.informers.Storage().V1().StorageClasses(),
		PodInformer:               core.Pods(),
		NodeInformer:              core.Nodes(),
		EnableDynamicProvisioning: true,
	})
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

func claimProtection(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), env.client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func volumeProtection(ctx context.Context, env *environment) (run, error) {
	c, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx), env.informers.Core().V1().PersistentVolumes(), env.client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// attributesClassProtection lets a VolumeAttributesClass go that no volume uses: admission puts a finalizer on every one.
func attributesClassProtection(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c, err := vacprotection.NewVACProtectionController(klog.FromContext(ctx), env.client, core.PersistentVolumeClaims(), core.PersistentVolumes(),
		env.informers.Storage().V1().VolumeAttributesClasses())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func ephemeralVolumes(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c, err := ephemeral.NewController(ctx, env.client, core.Pods(), core.PersistentVolumeClaims())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}
