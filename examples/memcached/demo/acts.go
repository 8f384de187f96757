package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
	"github.com/operon-dev/operon/examples/memcached/config"
)

func readSample() (*cachev1alpha1.Memcached, error) {
	sample := &cachev1alpha1.Memcached{}
	if err := yaml.UnmarshalStrict(config.Sample, sample); err != nil {
		return nil, err
	}
	sample.Namespace = metav1.NamespaceDefault
	return sample, nil
}

func (d *demo) startCluster(ctx context.Context) error {
	return d.perform(ctx, step{
		title:   "Start a cluster of three nodes",
		command: "operon cluster --nodes 3",
		limit:   2 * time.Minute,
		do: func(ctx context.Context) (err error) {
			d.cluster, err = startChild("cluster", d.operon, []string{"cluster", "--nodes", "3", "--kubeconfig", d.kubeconfig(), "--stop-on-stdin-eof"}, nil, "")
			if err != nil {
				return err
			}
			return d.cluster.awaitReady(ctx)
		},
	})
}

func (d *demo) config() (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", d.kubeconfig())
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1 // the server decides how much is too much
	return cfg, nil
}

func (d *demo) installCRD(ctx context.Context) error {
	const limit = 30 * time.Second
	return d.perform(ctx, step{
		title:   "Teach it the kind Memcached",
		command: "kubectl apply -f config/crd/bases",
		limit:   limit,
		do: func(ctx context.Context) error {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal(config.CRD, crd); err != nil {
				return err
			}
			cfg, err := d.config()
			if err != nil {
				return err
			}
			crds := []*apiextensionsv1.CustomResourceDefinition{crd}
			if _, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{CRDs: crds, MaxTime: limit}); err != nil {
				return err
			}
			d.world, err = watchWorld(ctx, cfg, client.ObjectKeyFromObject(d.sample))
			return err
		},
	})
}

func (d *demo) startOperator(ctx context.Context) error {
	return d.perform(ctx, step{
		title:   "Start the operator",
		command: "KUBECONFIG=... " + filepath.Base(d.manager),
		limit:   10 * time.Second,
		do: func(context.Context) (err error) {
			d.operator, err = startChild("operator", d.manager,
				[]string{"--metrics-bind-address=0", "--health-probe-bind-address=0"},
				[]string{"KUBECONFIG=" + d.kubeconfig()}, d.operatorLog())
			return err
		},
	})
}

func (d *demo) create(ctx context.Context) error {
	return d.perform(ctx, step{
		title:   fmt.Sprintf("Ask for a Memcached of %d nodes", d.sample.Spec.Size),
		command: "kubectl apply -f config/samples/cache_v1alpha1_memcached.yaml",
		limit:   time.Minute,
		do: func(ctx context.Context) error {
			// Applied, not created: a create of a kind as young as this one is held up for two seconds by the API server.
			sample := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(config.Sample, sample); err != nil {
				return err
			}
			sample.SetNamespace(d.sample.Namespace)
			return d.world.Apply(ctx, client.ApplyConfigurationFromUnstructured(sample), client.FieldOwner("demo"))
		},
		missing: converged(d.sample.Spec.Size),
	})
}

func (d *demo) scaleUp(ctx context.Context) error { return d.scale(ctx, "Scale it up to %d", 5) }

func (d *demo) scaleDown(ctx context.Context) error { return d.scale(ctx, "Scale it back to %d", 3) }

func (d *demo) scale(ctx context.Context, title string, size int32) error {
	return d.perform(ctx, step{
		title:   fmt.Sprintf(title, size),
		command: fmt.Sprintf("kubectl scale memcached %s --replicas %d", d.sample.Name, size),
		limit:   time.Minute,
		do: func(ctx context.Context) error {
			scale := &autoscalingv1.Scale{
				ObjectMeta: metav1.ObjectMeta{Namespace: d.sample.Namespace, Name: d.sample.Name},
				Spec:       autoscalingv1.ScaleSpec{Replicas: size},
			}
			return d.world.SubResource("scale").Update(ctx, d.sample.DeepCopy(), client.WithSubResourceBody(scale))
		},
		missing: converged(size),
	})
}

func (d *demo) deletePod(ctx context.Context) error {
	now, err := d.world.look(ctx)
	if err != nil {
		return err
	}
	if len(now.pods) == 0 {
		return errors.New("no pod is there any more, though nobody deleted one")
	}
	victim := now.pods[0].DeepCopy()
	return d.perform(ctx, step{
		title:   "Delete a pod by hand",
		command: "kubectl delete pod " + victim.Name,
		limit:   time.Minute,
		do:      func(ctx context.Context) error { return d.world.Delete(ctx, victim) },
		missing: func(now snapshot) string {
			for i := range now.pods {
				if now.pods[i].UID == victim.UID {
					return "the deleted pod " + victim.Name + " is still there"
				}
			}
			return converged(3)(now)
		},
	})
}

func (d *demo) deleteService(ctx context.Context) error {
	now, err := d.world.look(ctx)
	if err != nil {
		return err
	}
	if len(now.services) == 0 {
		return errors.New("no Service is there any more, though nobody deleted it")
	}
	victim := now.services[0].DeepCopy()
	return d.perform(ctx, step{
		title:   "Delete the Service by hand",
		command: "kubectl delete service " + victim.Name,
		limit:   30 * time.Second,
		do:      func(ctx context.Context) error { return d.world.Delete(ctx, victim) },
		missing: func(now snapshot) string {
			for i := range now.services {
				if now.services[i].UID == victim.UID {
					return "the deleted Service is still there"
				}
			}
			return converged(3)(now)
		},
	})
}

func (d *demo) deleteMemcached(ctx context.Context) error {
	return d.perform(ctx, step{
		title:   "Delete the Memcached, and with it all that it owns",
		command: "kubectl delete memcached " + d.sample.Name,
		limit:   time.Minute,
		do:      func(ctx context.Context) error { return d.world.Delete(ctx, d.sample.DeepCopy()) },
		missing: gone,
	})
}
