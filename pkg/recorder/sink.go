package recorder

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
)

// errStopped ends the retries of a queue: it gives up on what it cannot make a request of.
var errStopped = &rest.RequestConstructionError{Err: errors.New("event recorder has stopped")}

// coreSink sends core/v1 events.
type coreSink struct {
	provider *APIProvider
}

// Create implements record.EventSink.
func (s *coreSink) Create(event *corev1.Event) (*corev1.Event, error) {
	if s.provider.last.is(event) {
		s.provider.last.arrive()
		return event, nil
	}
	return s.send(event, func(ctx context.Context) (*corev1.Event, error) {
		return s.provider.core.Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
	})
}

// Update implements record.EventSink.
func (s *coreSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return s.send(event, func(ctx context.Context) (*corev1.Event, error) {
		return s.provider.core.Events(event.Namespace).Update(ctx, event, metav1.UpdateOptions{})
	})
}

// Patch implements record.EventSink.
func (s *coreSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return s.send(event, func(ctx context.Context) (*corev1.Event, error) {
		return s.provider.core.Events(event.Namespace).Patch(ctx, event.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
	})
}

func (s *coreSink) send(event *corev1.Event, request func(context.Context) (*corev1.Event, error)) (*corev1.Event, error) {
	if event.Namespace == "" {
		return nil, &rest.RequestConstructionError{Err: fmt.Errorf("event %s has no namespace", event.Name)}
	}
	if !s.provider.gate.enter() {
		return nil, errStopped
	}
	defer s.provider.gate.leave()
	sent, err := request(s.provider.sending)
	var answer *apierrors.StatusError
	if err != nil && !errors.As(err, &answer) && s.provider.hasStopped() {
		// The next try would come seconds later, and what is behind it in the queue has no more than that.
		return nil, &rest.RequestConstructionError{Err: err}
	}
	return sent, err
}

// newerSink sends events.k8s.io/v1 events.
type newerSink struct {
	provider *APIProvider
	api      events.EventSinkImpl
}

// Create implements events.EventSink.
func (s *newerSink) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	if !s.provider.gate.enter() {
		return nil, errStopped
	}
	defer s.provider.gate.leave()
	return s.api.Create(ctx, event)
}

// Update implements events.EventSink.
func (s *newerSink) Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	if !s.provider.gate.enter() {
		return nil, errStopped
	}
	defer s.provider.gate.leave()
	return s.api.Update(ctx, event)
}

// Patch implements events.EventSink.
func (s *newerSink) Patch(ctx context.Context, event *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	if !s.provider.gate.enter() {
		return nil, errStopped
	}
	defer s.provider.gate.leave()
	return s.api.Patch(ctx, event, data)
}
