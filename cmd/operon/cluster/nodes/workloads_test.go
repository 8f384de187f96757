package nodes_test

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var app = map[string]string{"app": "web"}

func template(notes map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: app, Annotations: notes},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
}

func deployment(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: app}, Template: template(nil)},
	}
}

func TestDeploymentRollsOutScalesAndUpdates(t *testing.T) {
	c, ns := start(t)
	api := c.AppsV1().Deployments(ns)
	if _, err := api.Create(t.Context(), deployment(3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	rolledOut := func(replicas int32, image string) {
		t.Helper()
		c.await(t, ns, fmt.Sprintf("%d replicas of %s", replicas, image), func(ctx context.Context) (bool, string) {
			d, err := api.Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			pods, err := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err.Error()
			}
			ok := d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == replicas && d.Status.AvailableReplicas == replicas && len(pods.Items) == int(replicas)
			addresses := map[string]bool{}
			for _, p := range pods.Items {
				ok = ok && p.Status.PodIP != "" && p.Spec.Containers[0].Image == image
				addresses[p.Status.PodIP] = true
			}
			return ok && len(addresses) == int(replicas), fmt.Sprintf("%+v, %d pods, addresses %v", d.Status, len(pods.Items), addresses)
		})
	}
	rolledOut(3, "web:1")
	patch := func(text string) {
		t.Helper()
		if _, err := api.Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patch(`{"spec":{"replicas":5}}`)
	rolledOut(5, "web:1")
	patch(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}`)
	rolledOut(5, "web:2")
	patch(`{"spec":{"replicas":1}}`)
	rolledOut(1, "web:2")
}

func TestRolloutStopsAtPodsThatDoNotBecomeReady(t *testing.T) {
	c, ns := start(t)
	d := deployment(2)
	d.Spec.Template = template(map[string]string{"sim.operon.dev/ready-after": "never"})
	if _, err := c.AppsV1().Deployments(ns).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, ns, "two running pods that are not ready", func(ctx context.Context) (bool, string) {
		pods, _ := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		words := phases(pods.Items)
		return words == "Running Running", words
	})
}

// phases lists the pods' phases, in capitals for those that are ready.
func phases(pods []corev1.Pod) string {
	var words []string
	for _, p := range pods {
		word := string(p.Status.Phase)
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				word = strings.ToUpper(word)
			}
		}
		words = append(words, word)
	}
	sort.Strings(words)
	return strings.Join(words, " ")
}

func TestStatefulSetStartsInOrder(t *testing.T) {
	c, ns := start(t)
	replicas := int32(3)
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: template(map[string]string{"sim.operon.dev/ready-after": "50ms"})},
	}
	w, err := c.CoreV1().Pods(ns).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if _, err := c.AppsV1().StatefulSets(ns).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var history []string
	told := map[string]bool{}
	for len(history) < 6 {
		e := <-w.ResultChan()
		p, ok := e.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("%v", e)
		}
		for word, is := range map[string]bool{"created": true, "ready": phases([]corev1.Pod{*p}) == "RUNNING"} {
			if word = p.Name + " " + word; is && !told[word] {
				told[word] = true
				history = append(history, word)
			}
		}
	}
	want := "db-0 created, db-0 ready, db-1 created, db-1 ready, db-2 created, db-2 ready"
	if got := strings.Join(history, ", "); got != want {
		t.Errorf("got %s", got)
	}
}

func TestDaemonSetHasOnePodOnEachNode(t *testing.T) {
	c, ns := start(t)
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: app}, Template: template(nil)},
	}
	set.Spec.Template.Spec.HostNetwork = true
	if _, err := c.AppsV1().DaemonSets(ns).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, ns, "a ready pod on each node", func(ctx context.Context) (bool, string) {
		pods, err := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		on := map[string]bool{}
		for _, p := range pods.Items {
			on[p.Spec.NodeName] = p.Status.PodIP == p.Status.HostIP
		}
		words := phases(pods.Items)
		return words == "RUNNING RUNNING RUNNING" && len(on) == nodeCount && !strings.Contains(fmt.Sprint(on), "false"), fmt.Sprint(words, on)
	})
}

func job(name string, limit int32, notes map[string]string) *batchv1.Job {
	pod := template(notes)
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{BackoffLimit: &limit, Template: pod}}
}

func (c *cluster) awaitJob(t *testing.T, ns, name string, condition batchv1.JobConditionType, succeeded, failed int32) {
	t.Helper()
	c.await(t, ns, fmt.Sprintf("job %s %s", name, condition), func(ctx context.Context) (bool, string) {
		j, err := c.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		for _, have := range j.Status.Conditions {
			if have.Type == condition && have.Status == corev1.ConditionTrue {
				return j.Status.Succeeded == succeeded && j.Status.Failed == failed, fmt.Sprintf("%+v", j.Status)
			}
		}
		return false, fmt.Sprintf("%+v", j.Status)
	})
}

func TestJobsCompleteAndFail(t *testing.T) {
	c, ns := start(t)
	good := job("good", 0, nil)
	good.Spec.Completions, good.Spec.Parallelism = new(int32(4)), new(int32(2))
	bad := job("bad", 0, map[string]string{"sim.operon.dev/exit-code": "3", "sim.operon.dev/run-duration": "0s"})
	for _, j := range []*batchv1.Job{good, bad} {
		if _, err := c.BatchV1().Jobs(ns).Create(t.Context(), j, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.awaitJob(t, ns, "bad", batchv1.JobFailed, 0, 1)
	c.awaitJob(t, ns, "good", batchv1.JobComplete, 4, 0)
}

func TestCronJobsTemplateRuns(t *testing.T) {
	c, ns := start(t)
	cron := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec:       batchv1.CronJobSpec{Schedule: "0 3 * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: job("", 0, nil).Spec}},
	}
	if _, err := c.BatchV1().CronJobs(ns).Create(t.Context(), cron, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, ns, "create", "job", "now", "--from=cronjob/nightly")
	c.awaitJob(t, ns, "now", batchv1.JobComplete, 1, 0)
}
