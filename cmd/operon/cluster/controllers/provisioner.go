package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/cmd/operon/cluster/seed"
)

// simulatedVolumes is the external provisioner and resizer of the default storage class, and of all that name its provisioner. It makes
// for each claim a volume that exists as an object only, as the class says, so that claims bind and pods that have them are scheduled; lets the
// volume grow when its claim does; and deletes the volumes that were released, unless they are to be retained.
func simulatedVolumes(_ context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	p := &provisioner{
		client:  env.client,
		claims:  core.PersistentVolumeClaims().Lister(),
		volumes: core.PersistentVolumes().Lister(),
		classes: env.informers.Storage().V1().StorageClasses().Lister(),
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
	classes storagelisters.StorageClassLister
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
			err = p.serve(ctx, item.claim)
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

// serve gives a claim what it lacks, a volume or more of it.
func (p *provisioner) serve(ctx context.Context, name cache.ObjectName) error {
	claim, err := p.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case claim.DeletionTimestamp != nil || claim.Annotations[storagehelpers.AnnStorageProvisioner] != seed.Provisioner:
		return nil
	case claim.Spec.VolumeName == "":
		return p.provision(ctx, claim)
	case claim.Status.Phase == corev1.ClaimBound && lacks(claim.Status.Capacity, claim):
		return p.grow(ctx, claim)
	}
	return nil
}

// provision makes the volume of a claim that the volume binder has left to us.
func (p *provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	// There is one: the binder has found the provisioner in it.
	class, err := p.classes.Get(storagehelpers.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return err
	}
	policy := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
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
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			PersistentVolumeReclaimPolicy: policy,
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

// grow gives a claim that asks for more the rest, and says so. Whether a claim may ask for more is for the API server to judge, by its class.
func (p *provisioner) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	volume, err := p.volumes.Get(claim.Spec.VolumeName)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if volume.Annotations[storagehelpers.AnnDynamicallyProvisioned] != seed.Provisioner {
		return nil
	}
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if lacks(volume.Spec.Capacity, claim) {
		volume = volume.DeepCopy()
		volume.Spec.Capacity[corev1.ResourceStorage] = size
		if _, err := p.client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	claim = claim.DeepCopy()
	claim.Status.Capacity[corev1.ResourceStorage] = size
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err
}

// lacks says that the capacity is less than what the claim asks for.
func lacks(capacity corev1.ResourceList, claim *corev1.PersistentVolumeClaim) bool {
	return capacity.Storage().Cmp(*claim.Spec.Resources.Requests.Storage()) < 0
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
