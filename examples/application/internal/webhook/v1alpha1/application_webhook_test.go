/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	appsv1alpha1 "app/api/v1alpha1"
)

func application(image string, replicas, port *int32) *appsv1alpha1.Application {
	return &appsv1alpha1.Application{Spec: appsv1alpha1.ApplicationSpec{Image: image, Replicas: replicas, Port: port}}
}

func TestApplicationDefaults(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		replicas, port         *int32
		wantReplicas, wantPort int32
	}{
		{"nothing set", nil, nil, 1, 8080},
		{"all set", ptr.To[int32](0), ptr.To[int32](80), 0, 80},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := application("nginx:1", tt.replicas, tt.port)
			if err := (&ApplicationCustomDefaulter{}).Default(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
			if *obj.Spec.Replicas != tt.wantReplicas || *obj.Spec.Port != tt.wantPort {
				t.Errorf("%d replicas, port %d", *obj.Spec.Replicas, *obj.Spec.Port)
			}
		})
	}
}

func TestApplicationValidation(t *testing.T) {
	for _, tt := range []struct {
		name, image string
		wrong       string // what an error has to say; "" means that there is none
	}{
		{"a tag", "nginx:1.29", ""},
		{"a digest", "nginx@sha256:aaaa", ""},
		{"a tag and a digest", "nginx:latest@sha256:aaaa", ""},
		{"a registry with a port", "registry.example.com:5000/team/web:v1", ""},
		{"no tag", "nginx", "spec.image"},
		{"no tag, but a registry's port", "registry.example.com:5000/team/web", "other than latest"},
		{"latest", "nginx:latest", "other than latest"},
		{"an empty tag", "nginx:", "other than latest"},
		{"a sentence", "run nginx:1.29", "space"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := (&ApplicationCustomValidator{}).ValidateCreate(t.Context(), application(tt.image, nil, nil))
			if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("ValidateCreate: %v", err)
			}
		})
	}
}

func TestApplicationStaysTheSameProgram(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		ok                  bool
	}{
		{"a new tag", "nginx:1.29", "nginx:1.30", true},
		{"a digest for a tag", "nginx:1.29", "nginx@sha256:aaaa", true},
		{"another program", "nginx:1.29", "httpd:2.4", false},
		{"no tag any more", "nginx:1.29", "nginx", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := (&ApplicationCustomValidator{}).ValidateUpdate(t.Context(), application(tt.before, nil, nil), application(tt.after, nil, nil))
			if (err == nil) != tt.ok {
				t.Errorf("ValidateUpdate: %v", err)
			}
		})
	}
}

func TestApplicationWithoutPodsIsWarnedOf(t *testing.T) {
	for replicas, want := range map[int32]int{0: 1, 1: 0} {
		warnings, err := (&ApplicationCustomValidator{}).ValidateCreate(t.Context(), application("nginx:1.29", &replicas, nil))
		if err != nil || len(warnings) != want {
			t.Errorf("%d replicas: warnings %q, error %v", replicas, warnings, err)
		}
	}
}
