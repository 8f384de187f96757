package controller

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	kbatchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// runAnnotation is where a Job has its run, in RFC 3339.
const runAnnotation = "batch.tutorial.kubebuilder.io/run"

// children are the Jobs of one CronJob, the oldest first.
type children struct {
	active, succeeded, failed []kbatchv1.Job
	// latest is the latest run that has or had a Job; zero if there is none.
	latest time.Time
}

// sortJobs tells Jobs apart by how they fare.
func sortJobs(jobs []kbatchv1.Job) children {
	jobs = slices.SortedFunc(slices.Values(jobs), func(a, b kbatchv1.Job) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	var c children
	for _, job := range jobs {
		switch ending(&job) {
		case kbatchv1.JobComplete:
			c.succeeded = append(c.succeeded, job)
		case kbatchv1.JobFailed:
			c.failed = append(c.failed, job)
		default:
			c.active = append(c.active, job)
		}
		// A Job without a readable annotation is none that this controller has made; its run does not count.
		if run, err := time.Parse(time.RFC3339, job.Annotations[runAnnotation]); err == nil && run.After(c.latest) {
			c.latest = run
		}
	}
	return c
}

// ending is how a Job has ended: Complete, Failed, or "" if it has not.
func ending(job *kbatchv1.Job) kbatchv1.JobConditionType {
	for _, condition := range job.Status.Conditions {
		if (condition.Type == kbatchv1.JobComplete || condition.Type == kbatchv1.JobFailed) && condition.Status == corev1.ConditionTrue {
			return condition.Type
		}
	}
	return ""
}

// surplus are those of the Jobs, the oldest first, that a history with a limit has no room for.
func surplus(jobs []kbatchv1.Job, limit *int32, otherwise int32) []kbatchv1.Job {
	return jobs[:max(0, len(jobs)-int(ptr.Deref(limit, otherwise)))]
}

// references name Jobs, for the status.
func references(jobs []kbatchv1.Job) []corev1.ObjectReference {
	var refs []corev1.ObjectReference
	for _, job := range jobs {
		refs = append(refs, corev1.ObjectReference{
			APIVersion: kbatchv1.SchemeGroupVersion.String(), Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID,
		})
	}
	return refs
}

// jobFor is the Job of one run, with the run's time in its name, so that a second one for it is refused.
func jobFor(cronJob *batchv1.CronJob, run time.Time) *kbatchv1.Job {
	template := cronJob.Spec.JobTemplate.DeepCopy()
	job := &kbatchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   cronJob.Namespace,
			Name:        fmt.Sprintf("%s-%d", cronJob.Name, run.Unix()),
			Labels:      template.Labels,
			Annotations: template.Annotations,
		},
		Spec: template.Spec,
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, runAnnotation, run.Format(time.RFC3339))
	return job
}
