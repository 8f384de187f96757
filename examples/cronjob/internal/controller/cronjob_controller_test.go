/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	kbatchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/client"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// patience bounds what would otherwise wait for ever.
const patience = 5 * time.Minute

// everySecond is a CronJob whose Jobs end at once, with an exit code.
func everySecond(name, exitCode string) *batchv1.CronJob {
	c := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule:                   "@every 1s",
			SuccessfulJobsHistoryLimit: ptr.To[int32](2),
			FailedJobsHistoryLimit:     ptr.To[int32](1),
		},
	}
	c.Spec.JobTemplate.Labels = map[string]string{"of": name}
	job := &c.Spec.JobTemplate.Spec
	job.BackoffLimit = ptr.To[int32](0)
	job.Template.Annotations = map[string]string{"sim.operon.dev/exit-code": exitCode}
	job.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	job.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
	return c
}

var _ = Describe("CronJobReconciler", func() {
	DescribeTable("starts Jobs when they are due and keeps the latest that have ended",
		func(name, exitCode string, condition kbatchv1.JobConditionType, kept int) {
			cronJob := everySecond(name, exitCode)
			Expect(k8sClient.Create(ctx, cronJob)).To(Succeed())
			DeferCleanup(func() { Expect(k8sClient.Delete(ctx, cronJob)).To(Succeed()) })

			By("running several Jobs")
			ended := map[string]bool{}
			Eventually(func(g Gomega) {
				var jobs kbatchv1.JobList
				g.Expect(k8sClient.List(ctx, &jobs, client.InNamespace("default"), client.MatchingLabels{"of": name})).To(Succeed())
				for _, job := range jobs.Items {
					if ending(&job) != "" {
						ended[job.Name] = true
					}
				}
				g.Expect(len(ended)).To(BeNumerically(">", kept))
				g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(cronJob), cronJob)).To(Succeed())
				g.Expect(cronJob.Status.LastScheduleTime).NotTo(BeNil())
			}).WithTimeout(patience).Should(Succeed())

			By("being suspended")
			Eventually(func() error {
				if err := k8sClient.Get(ctx, client.ObjectKeyFromObject(cronJob), cronJob); err != nil {
					return err
				}
				cronJob.Spec.Suspend = ptr.To(true)
				return k8sClient.Update(ctx, cronJob)
			}).WithTimeout(patience).Should(Succeed())
			Eventually(func(g Gomega) {
				g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(cronJob), cronJob)).To(Succeed())
				g.Expect(meta.IsStatusConditionFalse(cronJob.Status.Conditions, ConditionScheduled)).To(BeTrue())
				g.Expect(cronJob.Status.Active).To(BeEmpty())

				var jobs kbatchv1.JobList
				g.Expect(k8sClient.List(ctx, &jobs, client.InNamespace("default"), client.MatchingLabels{"of": name})).To(Succeed())
				g.Expect(jobs.Items).To(HaveLen(kept))
				for _, job := range jobs.Items {
					g.Expect(ending(&job)).To(Equal(condition))
					g.Expect(metav1.IsControlledBy(&job, cronJob)).To(BeTrue())
				}
			}).WithTimeout(patience).Should(Succeed())
		},
		Entry("of those that succeeded", "succeeds", "0", kbatchv1.JobComplete, 2),
		Entry("of those that failed", "fails", "1", kbatchv1.JobFailed, 1),
	)
})
