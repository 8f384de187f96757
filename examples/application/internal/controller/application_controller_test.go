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

	appsv1alpha1 "app/api/v1alpha1"
)

// patience bounds what would otherwise wait for ever.
const patience = 5 * time.Minute

var _ = Describe("ApplicationReconciler", func() {
	It("takes it that an object is gone", func() {
		reconciler := &ApplicationReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
		_, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "gone"}})
		Expect(err).NotTo(HaveOccurred())
	})

	It("brings an Application to what it asks for", func() {
		app := &appsv1alpha1.Application{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
			Spec:       appsv1alpha1.ApplicationSpec{Image: "nginx:1.29", Replicas: ptr.To[int32](2)},
		}
		Expect(k8sClient.Create(ctx, app)).To(Succeed())
		key := client.ObjectKeyFromObject(app)
		DeferCleanup(func() { Expect(k8sClient.Delete(ctx, app)).To(Succeed()) })
		reconciler := &ApplicationReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
		available := func(g Gomega) {
			_, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k8sClient.Get(ctx, key, app)).To(Succeed())
			condition := meta.FindStatusCondition(app.Status.Conditions, ConditionAvailable)
			g.Expect(condition).NotTo(BeNil())
			g.Expect(condition.Status).To(Equal(metav1.ConditionTrue))
			g.Expect(condition.ObservedGeneration).To(Equal(app.Generation))
		}
		Eventually(available).WithTimeout(patience).Should(Succeed())
		Expect(app.Status.ReadyReplicas).To(BeEquivalentTo(2))

		var deployment appsv1.Deployment
		Expect(k8sClient.Get(ctx, key, &deployment)).To(Succeed())
		Expect(metav1.IsControlledBy(&deployment, app)).To(BeTrue())
		Expect(deployment.Spec.Template.Spec.Containers).To(HaveLen(1))
		Expect(deployment.Spec.Template.Spec.Containers[0].Image).To(Equal("nginx:1.29"))
		var service corev1.Service
		Expect(k8sClient.Get(ctx, key, &service)).To(Succeed())
		Expect(service.Spec.Ports).To(HaveLen(1))
		Expect(service.Spec.Ports[0].Port).To(BeEquivalentTo(8080))

		By("being changed")
		before := deployment.ResourceVersion
		_, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		Expect(err).NotTo(HaveOccurred())
		Expect(k8sClient.Get(ctx, key, &deployment)).To(Succeed())
		Expect(deployment.ResourceVersion).To(Equal(before), "a Reconcile with nothing to do has written")
		app.Spec.Image, app.Spec.Replicas = "nginx:1.30", ptr.To[int32](3)
		Expect(k8sClient.Update(ctx, app)).To(Succeed())
		Eventually(available).WithTimeout(patience).Should(Succeed())
		Expect(app.Status.ReadyReplicas).To(BeEquivalentTo(3))
		Expect(k8sClient.Get(ctx, key, &deployment)).To(Succeed())
		Expect(deployment.Spec.Template.Spec.Containers[0].Image).To(Equal("nginx:1.30"))
	})
})
