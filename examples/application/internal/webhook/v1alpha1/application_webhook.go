/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"context"
	"strings"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/webhook/admission"

	appsv1alpha1 "app/api/v1alpha1"
)

// SetupApplicationWebhookWithManager has a manager serve the webhooks of Application.
func SetupApplicationWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &appsv1alpha1.Application{}).
		WithDefaulter(&ApplicationCustomDefaulter{}).
		WithValidator(&ApplicationCustomValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-apps-example-io-v1alpha1-application,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps.example.io,resources=applications,verbs=create;update,versions=v1alpha1,name=mapplication-v1alpha1.kb.io,admissionReviewVersions=v1

// ApplicationCustomDefaulter fills in what Application objects leave open.
//
// +kubebuilder:object:generate=false
type ApplicationCustomDefaulter struct{}

// Default changes obj, which is about to be created or updated.
func (d *ApplicationCustomDefaulter) Default(ctx context.Context, obj *appsv1alpha1.Application) error {
	if obj.Spec.Replicas == nil {
		obj.Spec.Replicas = ptr.To(appsv1alpha1.DefaultReplicas)
	}
	if obj.Spec.Port == nil {
		obj.Spec.Port = ptr.To(appsv1alpha1.DefaultPort)
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-apps-example-io-v1alpha1-application,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps.example.io,resources=applications,verbs=create;update,versions=v1alpha1,name=vapplication-v1alpha1.kb.io,admissionReviewVersions=v1

// ApplicationCustomValidator refuses Application objects that are not as they should be.
//
// +kubebuilder:object:generate=false
type ApplicationCustomValidator struct{}

// ValidateCreate returns an error to refuse an object that is about to be created.
func (v *ApplicationCustomValidator) ValidateCreate(ctx context.Context, obj *appsv1alpha1.Application) (admission.Warnings, error) {
	return warnings(obj), invalid(obj, validateImage(obj.Spec.Image))
}

// ValidateUpdate returns an error to refuse a change.
func (v *ApplicationCustomValidator) ValidateUpdate(ctx context.Context, old, obj *appsv1alpha1.Application) (admission.Warnings, error) {
	err := validateImage(obj.Spec.Image)
	if err == nil && repository(obj.Spec.Image) != repository(old.Spec.Image) {
		err = field.Invalid(imagePath, obj.Spec.Image, "another program is another Application: this one runs "+repository(old.Spec.Image))
	}
	return warnings(obj), invalid(obj, err)
}

// ValidateDelete returns an error to refuse a deletion. It is called if the marker above names the verb delete too.
func (v *ApplicationCustomValidator) ValidateDelete(ctx context.Context, obj *appsv1alpha1.Application) (admission.Warnings, error) {
	return nil, nil
}

var imagePath = field.NewPath("spec", "image")

// invalid is the answer to a user whose object has a mistake; nil if there is none.
func invalid(obj *appsv1alpha1.Application, err *field.Error) error {
	if err == nil {
		return nil
	}
	return apierrors.NewInvalid(appsv1alpha1.GroupVersion.WithKind("Application").GroupKind(), obj.Name, field.ErrorList{err})
}

// warnings is what a user should know of an object that is in order.
func warnings(obj *appsv1alpha1.Application) admission.Warnings {
	if ptr.Deref(obj.Spec.Replicas, appsv1alpha1.DefaultReplicas) == 0 {
		return admission.Warnings{"spec.replicas is 0: nothing runs"}
	}
	return nil
}

// validateImage demands an image that is the same tomorrow: one with a digest, or with a tag other than latest.
func validateImage(image string) *field.Error {
	if strings.ContainsFunc(image, unicode.IsSpace) {
		return field.Invalid(imagePath, image, "an image's name has no space in it")
	}
	if strings.Contains(image, "@") {
		return nil
	}
	switch tag := strings.TrimPrefix(image, repository(image)); tag {
	case "", ":", ":latest":
		return field.Invalid(imagePath, image, "name a tag other than latest, or a digest: what runs has to be the same tomorrow")
	}
	return nil
}

// repository is an image's name without its tag and digest.
func repository(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") { // not that of a registry's port
		name = name[:colon]
	}
	return name
}
