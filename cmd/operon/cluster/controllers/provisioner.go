package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/cmd/operon/cluster/seed"
)

// simulatedVolumes is the external provisioner of the default storage class. It makes for each claim a volume that exists as an object
// only, so that claims bind and pods that have them are scheduled, and deletes the volumes that were released.
func simulatedVolumes(_ context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	p := &provisioner{
		client:  env.client,
		claims:  core.PersistentVolumeClaims().Lister(),
		volumes: core.PersistentVolumes().Lister(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[work](),
			workqueue.TypedRateLimitingQueueConfig[work]{Name: "simulated_volumes"}),
	}
	_, err := core.PersistentVolumeClaims().Informer().AddEventHandler(p.enqueue(func(name cache.ObjectName) work { return work{claim: name} }))
	if err != nil {
		return nil, err
	}
	_, err = core.PersistentVolumes().Informer().AddEventHandler(p.enqueue(func(name cache.ObjectName) work { return work{volume: name.Name} }))
	return p.run, err
}

type provisioner struct {
	client  kubernetes.Interface
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	queue   workqueue.TypedRateLimitingInterface[work]
}

// work is a claim or a volume to look at.
type work struct {
	claim  cache.ObjectName
	volume string
}

func (p *provisioner) enqueue(of func(cache.ObjectName) work) cache.ResourceEventHandlerFuncs {
	add := func(obj any) {
		if name, err := cache.ObjectToName(obj); err == nil {
			p.queue.Add(of(name))
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}
}

func (p *provisioner) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, p.queue.ShutDown)
	defer stop()
	for {
		item, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		var err error
		if item.volume != "" {
			err = p.release(ctx, item.volume)
		} else {
			err = p.provision(ctx, item.claim)
		}
		p.queue.Done(item)
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "simulated volume", "claim", item.claim, "volume", item.volume)
			p.queue.AddRateLimited(item)
			continue
		}
		p.queue.Forget(item)
	}
}

// provision makes the volume of a claim that the volume binder has left to us.
func (p *provisioner) provision(ctx context.Context, name cache.ObjectName) error {
	claim, err := p.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil || claim.Annotations[storagehelpers.AnnStorageProvisioner] != seed.Provisioner {
		return nil
	}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "pvc-" + string(claim.UID),
			Annotations: map[string]string{storagehelpers.AnnDynamicallyProvisioned: seed.Provisioner},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      claim.Spec.Resources.Requests,
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			StorageClassName:              storagehelpers.GetPersistentVolumeClaimClass(claim),
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/operon/volumes/pvc-" + string(claim.UID)},
			},
		},
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// release deletes a volume of ours whose claim is gone.
func (p *provisioner) release(ctx context.Context, name string) error {
	volume, err := p.volumes.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := volume.Annotations[storagehelpers.AnnDynamicallyProvisioned] == seed.Provisioner
	if !ours || volume.DeletionTimestamp != nil || volume.Status.Phase != corev1.VolumeReleased || volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	err = p.client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(volume.UID))})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
