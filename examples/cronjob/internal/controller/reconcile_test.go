package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	kbatchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/controller/controllerutil"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// noon is when the CronJob of these tests was made; it is due every ten minutes.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// nameAt is the name of the Job of a run.
func nameAt(run time.Time) string { return fmt.Sprintf("backup-%d", run.Unix()) }

// job is the Job of a run, which has ended as a condition says, or not at all.
func job(run time.Time, ended kbatchv1.JobConditionType) *kbatchv1.Job {
	j := &kbatchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: nameAt(run), UID: types.UID(nameAt(run)), CreationTimestamp: metav1.NewTime(run),
		Annotations: map[string]string{runAnnotation: run.Format(time.RFC3339)},
	}}
	if ended != "" {
		j.Status.Conditions = []kbatchv1.JobCondition{{Type: ended, Status: corev1.ConditionTrue}}
	}
	return j
}

func TestReconcile(t *testing.T) {
	first, second, third := noon.Add(10*time.Minute), noon.Add(20*time.Minute), noon.Add(30*time.Minute)
	for _, tt := range []struct {
		name  string
		spec  batchv1.CronJobSpec
		jobs  []*kbatchv1.Job
		now   time.Time
		left  []time.Time // runs that have a Job afterwards
		again time.Duration
	}{
		{name: "nothing is due", now: noon.Add(time.Minute), again: 9 * time.Minute},
		{name: "the first is due", now: first, left: []time.Time{first}, again: 10 * time.Minute},
		{name: "a run has its Job", jobs: []*kbatchv1.Job{job(first, "")}, now: first.Add(time.Second), left: []time.Time{first}, again: 10*time.Minute - time.Second},
		{name: "two were missed", now: second.Add(time.Minute), left: []time.Time{second}, again: 9 * time.Minute},
		{
			name: "too late", spec: batchv1.CronJobSpec{StartingDeadlineSeconds: ptr.To[int64](30)},
			now: first.Add(31 * time.Second), again: 10*time.Minute - 31*time.Second,
		},
		{
			name: "late, but not too late", spec: batchv1.CronJobSpec{StartingDeadlineSeconds: ptr.To[int64](30)},
			now: first.Add(30 * time.Second), left: []time.Time{first}, again: 10*time.Minute - 30*time.Second,
		},
		{name: "suspended", spec: batchv1.CronJobSpec{Suspend: ptr.To(true)}, now: first},
		{name: "a schedule that says nothing", spec: batchv1.CronJobSpec{Schedule: "soon"}, now: first},
		{name: "a day that never comes", spec: batchv1.CronJobSpec{Schedule: "0 0 30 2 *"}, now: first},
		{
			name: "side by side", spec: batchv1.CronJobSpec{ConcurrencyPolicy: batchv1.AllowConcurrent},
			jobs: []*kbatchv1.Job{job(first, "")}, now: second, left: []time.Time{first, second}, again: 10 * time.Minute,
		},
		{
			name: "one after the other", spec: batchv1.CronJobSpec{ConcurrencyPolicy: batchv1.ForbidConcurrent},
			jobs: []*kbatchv1.Job{job(first, "")}, now: second, left: []time.Time{first}, again: 10 * time.Minute,
		},
		{
			name: "the one before has ended meanwhile", spec: batchv1.CronJobSpec{ConcurrencyPolicy: batchv1.ForbidConcurrent},
			jobs: []*kbatchv1.Job{job(first, kbatchv1.JobComplete)}, now: second.Add(time.Minute), left: []time.Time{first, second}, again: 9 * time.Minute,
		},
		{
			name: "one in place of the other", spec: batchv1.CronJobSpec{ConcurrencyPolicy: batchv1.ReplaceConcurrent},
			jobs: []*kbatchv1.Job{job(first, "")}, now: second, left: []time.Time{second}, again: 10 * time.Minute,
		},
		{
			name: "the history is kept short, also of the suspended",
			spec: batchv1.CronJobSpec{Suspend: ptr.To(true), SuccessfulJobsHistoryLimit: ptr.To[int32](1), FailedJobsHistoryLimit: ptr.To[int32](0)},
			jobs: []*kbatchv1.Job{job(first, kbatchv1.JobComplete), job(second, kbatchv1.JobComplete), job(third, kbatchv1.JobFailed)},
			now:  third.Add(time.Hour), left: []time.Time{second},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cronJob := &batchv1.CronJob{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "backup", UID: "of the CronJob", CreationTimestamp: metav1.NewTime(noon)},
				Spec:       tt.spec,
			}
			if cronJob.Spec.Schedule == "" {
				cronJob.Spec.Schedule = "*/10 * * * *"
			}
			r := newReconciler(t, tt.now, cronJob, tt.jobs)
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(cronJob)})
			if err != nil {
				t.Fatal(err)
			}
			if result.RequeueAfter != tt.again {
				t.Errorf("comes again after %v, want %v", result.RequeueAfter, tt.again)
			}
			var jobs kbatchv1.JobList
			if err := r.List(t.Context(), &jobs); err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, job := range jobs.Items {
				got = append(got, job.Name)
				if !metav1.IsControlledBy(&job, cronJob) {
					t.Errorf("Job %s is not the CronJob's", job.Name)
				}
			}
			for _, run := range tt.left {
				want = append(want, nameAt(run))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("Jobs %v, want %v", got, want)
			}
		})
	}
}

func TestStatusSaysWhyNothingStarts(t *testing.T) {
	for _, tt := range []struct {
		spec   batchv1.CronJobSpec
		status metav1.ConditionStatus
		reason string
	}{
		{batchv1.CronJobSpec{Schedule: "@daily"}, metav1.ConditionTrue, "Scheduled"},
		{batchv1.CronJobSpec{Schedule: "@daily", Suspend: ptr.To(true)}, metav1.ConditionFalse, "Suspended"},
		{batchv1.CronJobSpec{Schedule: "soon"}, metav1.ConditionFalse, "InvalidSchedule"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "backup", CreationTimestamp: metav1.NewTime(noon)}, Spec: tt.spec}
			r := newReconciler(t, noon, cronJob, nil)
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(cronJob)}); err != nil {
				t.Fatal(err)
			}
			if err := r.Get(t.Context(), client.ObjectKeyFromObject(cronJob), cronJob); err != nil {
				t.Fatal(err)
			}
			condition := meta.FindStatusCondition(cronJob.Status.Conditions, ConditionScheduled)
			if condition == nil || condition.Status != tt.status || condition.Reason != tt.reason {
				t.Errorf("condition %+v, want %s because of %s", condition, tt.status, tt.reason)
			}
		})
	}
}

// newReconciler is a reconciler at a certain time in a cluster that has a CronJob and Jobs of its.
func newReconciler(t *testing.T, now time.Time, cronJob *batchv1.CronJob, jobs []*kbatchv1.Job) *CronJobReconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := batchv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(cronJob).WithObjects(cronJob).
		WithIndex(&kbatchv1.Job{}, ownerIndex, controllerOf)
	for _, job := range jobs {
		job = job.DeepCopy()
		if err := controllerutil.SetControllerReference(cronJob, job, scheme); err != nil {
			t.Fatal(err)
		}
		builder.WithObjects(job)
	}
	return &CronJobReconciler{Client: builder.Build(), Scheme: scheme, Now: func() time.Time { return now }}
}
