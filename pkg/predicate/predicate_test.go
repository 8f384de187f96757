package predicate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/event"
)

type answers struct{ Create, Update, Delete, Generic bool }

func ask(p Predicate, before, after client.Object) answers {
	return answers{
		Create:  p.Create(event.CreateEvent{Object: after}),
		Update:  p.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}),
		Delete:  p.Delete(event.DeleteEvent{Object: after}),
		Generic: p.Generic(event.GenericEvent{Object: after}),
	}
}

func pod(change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name:            "web",
		ResourceVersion: "1",
		Generation:      1,
		Labels:          map[string]string{"app": "web"},
		Annotations:     map[string]string{"note": "a"},
	}}
	for _, c := range change {
		c(p)
	}
	return p
}

func TestChangePredicatesLetOnlyUpdatesPassThatChangedTheirField(t *testing.T) {
	changes := map[string]func(*corev1.Pod){
		"nothing":         func(*corev1.Pod) {},
		"resourceVersion": func(p *corev1.Pod) { p.ResourceVersion = "2" },
		"generation":      func(p *corev1.Pod) { p.Generation = 2 },
		"a label":         func(p *corev1.Pod) { p.Labels["app"] = "db" },
		"a label removed": func(p *corev1.Pod) { p.Labels = nil },
		"an annotation":   func(p *corev1.Pod) { p.Annotations["other"] = "" },
	}
	predicates := map[string]struct {
		p      Predicate
		passes []string
	}{
		"ResourceVersionChanged": {ResourceVersionChangedPredicate{}, []string{"resourceVersion"}},
		"GenerationChanged":      {GenerationChangedPredicate{}, []string{"generation"}},
		"LabelChanged":           {LabelChangedPredicate{}, []string{"a label", "a label removed"}},
		"AnnotationChanged":      {AnnotationChangedPredicate{}, []string{"an annotation"}},
	}
	for name, tt := range predicates {
		for change, apply := range changes {
			want := answers{Create: true, Delete: true, Generic: true}
			for _, c := range tt.passes {
				want.Update = want.Update || c == change
			}
			if diff := cmp.Diff(want, ask(tt.p, pod(), pod(apply))); diff != "" {
				t.Errorf("%s, change of %s (-want +got):\n%s", name, change, diff)
			}
		}
		for _, e := range []event.UpdateEvent{
			{}, {ObjectNew: pod()}, {ObjectOld: pod()}, {ObjectOld: (*corev1.Pod)(nil), ObjectNew: pod()},
		} {
			if tt.p.Update(e) {
				t.Errorf("%s lets an update without one of its states pass: %v", name, e)
			}
		}
	}
}

func TestTypedChangePredicate(t *testing.T) {
	p := TypedGenerationChangedPredicate[*corev1.Pod]{}
	if p.Update(event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: pod(), ObjectNew: pod()}) {
		t.Error("an update without a new generation passes")
	}
	if !p.Update(event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: pod(), ObjectNew: pod(func(p *corev1.Pod) { p.Generation = 2 })}) {
		t.Error("an update with a new generation does not pass")
	}
}

func TestFuncsLetPassWhatTheyHaveNoFunctionFor(t *testing.T) {
	if diff := cmp.Diff(answers{true, true, true, true}, ask(Funcs{}, pod(), pod())); diff != "" {
		t.Error(diff)
	}
	none := Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
	if diff := cmp.Diff(answers{}, ask(none, pod(), pod())); diff != "" {
		t.Error(diff)
	}
}

func TestNewPredicateFuncsAsksAboutTheNewState(t *testing.T) {
	p := NewPredicateFuncs(func(o client.Object) bool { return o.GetResourceVersion() == "2" })
	two := pod(func(p *corev1.Pod) { p.ResourceVersion = "2" })
	if diff := cmp.Diff(answers{true, true, true, true}, ask(p, pod(), two)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(answers{}, ask(p, two, pod())); diff != "" {
		t.Error(diff)
	}
}

func TestLabelSelectorPredicate(t *testing.T) {
	p, err := LabelSelectorPredicate(metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}})
	if err != nil {
		t.Fatal(err)
	}
	other := pod(func(p *corev1.Pod) { p.Labels["app"] = "db" })
	if diff := cmp.Diff(answers{true, true, true, true}, ask(p, other, pod())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(answers{}, ask(p, pod(), other)); diff != "" {
		t.Error(diff)
	}
	_, err = LabelSelectorPredicate(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}})
	if err == nil {
		t.Error("no error for a selector with an operator that does not exist")
	}
}

func TestCombinations(t *testing.T) {
	always := func(b bool) Predicate { return NewPredicateFuncs(func(client.Object) bool { return b }) }
	yes, no := always(true), always(false)
	unasked := NewPredicateFuncs(func(client.Object) bool {
		t.Error("asked although the answer was clear")
		return false
	})
	tests := map[string]struct {
		p    Predicate
		want bool
	}{
		"And of none":        {And[client.Object](), true},
		"And of yes and yes": {And(yes, yes), true},
		"And of yes and no":  {And(yes, no), false},
		"And stops at no":    {And(no, unasked), false},
		"Or of none":         {Or[client.Object](), false},
		"Or of no and yes":   {Or(no, yes), true},
		"Or of no and no":    {Or(no, no), false},
		"Or stops at yes":    {Or(yes, unasked), true},
		"Not of yes":         {Not(yes), false},
		"Not of no":          {Not(no), true},
		"nested":             {And(Or(no, yes), Not(And(yes, no))), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := answers{tt.want, tt.want, tt.want, tt.want}
			if diff := cmp.Diff(want, ask(tt.p, pod(), pod())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
