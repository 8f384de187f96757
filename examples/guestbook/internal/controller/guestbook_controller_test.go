/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"

	webappv1 "my.domain/guestbook/api/v1"
)

// patience bounds what would otherwise wait for ever.
const patience = 5 * time.Minute

var _ = Describe("GuestbookReconciler", func() {
	It("takes it that an object is gone", func() {
		reconciler := &GuestbookReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
		_, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "gone"}})
		Expect(err).NotTo(HaveOccurred())
	})

	It("brings a Guestbook to what it asks for", func() {
		guestbook := &webappv1.Guestbook{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
			Spec:       webappv1.GuestbookSpec{Frontends: ptr.To[int32](3), Followers: ptr.To[int32](2)},
		}
		Expect(k8sClient.Create(ctx, guestbook)).To(Succeed())
		key := client.ObjectKeyFromObject(guestbook)
		DeferCleanup(func() { Expect(k8sClient.Delete(ctx, guestbook)).To(Succeed()) })
		reconciler := &GuestbookReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
		available := func(g Gomega) {
			_, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k8sClient.Get(ctx, key, guestbook)).To(Succeed())
			condition := meta.FindStatusCondition(guestbook.Status.Conditions, ConditionAvailable)
			g.Expect(condition).NotTo(BeNil())
			g.Expect(condition.Status).To(Equal(metav1.ConditionTrue), condition.Message)
			g.Expect(condition.ObservedGeneration).To(Equal(guestbook.Generation))
		}
		Eventually(available).WithTimeout(patience).Should(Succeed())
		Expect(guestbook.Status.Ready).To(Equal(webappv1.TierCounts{Leader: 1, Followers: 2, Frontends: 3}))

		var frontend appsv1.Deployment
		name := client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-frontend"}
		Expect(k8sClient.Get(ctx, name, &frontend)).To(Succeed())
		Expect(metav1.IsControlledBy(&frontend, guestbook)).To(BeTrue())
		Expect(frontend.Spec.Template.Spec.Containers).To(HaveLen(1))
		Expect(frontend.Spec.Template.Spec.Containers[0].Env).To(ContainElement(
			corev1.EnvVar{Name: "REDIS_LEADER_SERVICE_HOST", Value: key.Name + "-leader"}))

		By("leaving what others set")
		frontend.Spec.Template.Spec.PriorityClassName = "system-cluster-critical"
		Expect(k8sClient.Update(ctx, &frontend)).To(Succeed())
		guestbook.Spec.Frontends = ptr.To[int32](1)
		Expect(k8sClient.Update(ctx, guestbook)).To(Succeed())
		Eventually(available).WithTimeout(patience).Should(Succeed())
		Expect(guestbook.Status.Ready.Frontends).To(BeEquivalentTo(1))
		Expect(k8sClient.Get(ctx, name, &frontend)).To(Succeed())
		Expect(frontend.Spec.Template.Spec.PriorityClassName).To(Equal("system-cluster-critical"))
	})
})
