package client_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-dev/operon/pkg/client"
)

func TestOptionsThatAreStructsOverrideOnlyWhatTheySet(t *testing.T) {
	zero, five, yes := int64(0), int64(5), true
	background := metav1.DeletePropagationBackground
	for name, test := range map[string]struct{ got, want any }{
		"get": {
			(&client.GetOptions{}).ApplyOptions([]client.GetOption{&client.GetOptions{UnsafeDisableDeepCopy: &yes}, &client.GetOptions{}, client.DisableReadYourWritesConsistency}),
			&client.GetOptions{UnsafeDisableDeepCopy: &yes, DisableReadYourWritesConsistency: true},
		},
		"list": {
			(&client.ListOptions{}).ApplyOptions([]client.ListOption{client.InNamespace("a"), client.Limit(5), &client.ListOptions{Continue: "c"}, client.UnsafeDisableDeepCopy}),
			&client.ListOptions{Namespace: "a", Limit: 5, Continue: "c", UnsafeDisableDeepCopy: &yes},
		},
		"create": {
			(&client.CreateOptions{}).ApplyOptions([]client.CreateOption{client.FieldOwner("a"), client.DryRunAll, &client.CreateOptions{FieldManager: "b"}}),
			&client.CreateOptions{FieldManager: "b", DryRun: []string{"All"}},
		},
		"update": {
			(&client.UpdateOptions{}).ApplyOptions([]client.UpdateOption{client.FieldValidation("Warn"), client.DisableReadYourWritesConsistency, &client.UpdateOptions{FieldManager: "b"}}),
			&client.UpdateOptions{FieldManager: "b", FieldValidation: "Warn", DisableReadYourWritesConsistency: true},
		},
		"patch": {
			(&client.PatchOptions{}).ApplyOptions([]client.PatchOption{client.ForceOwnership, &client.PatchOptions{FieldManager: "b"}}),
			&client.PatchOptions{FieldManager: "b", Force: &yes},
		},
		"apply": {
			(&client.ApplyOptions{}).ApplyOptions([]client.ApplyOption{client.FieldOwner("a"), client.ForceOwnership, &client.ApplyOptions{DryRun: []string{"All"}}}),
			&client.ApplyOptions{FieldManager: "a", Force: &yes, DryRun: []string{"All"}},
		},
		"delete": {
			(&client.DeleteOptions{}).ApplyOptions([]client.DeleteOption{client.GracePeriodSeconds(5), client.PropagationPolicy(background), &client.DeleteOptions{GracePeriodSeconds: &zero}}),
			&client.DeleteOptions{GracePeriodSeconds: &zero, PropagationPolicy: &background},
		},
		"delete all of": {
			(&client.DeleteAllOfOptions{}).ApplyOptions([]client.DeleteAllOfOption{client.InNamespace("a"), client.GracePeriodSeconds(5),
				&client.DeleteAllOfOptions{ListOptions: client.ListOptions{Namespace: "b"}}}),
			&client.DeleteAllOfOptions{ListOptions: client.ListOptions{Namespace: "b"}, DeleteOptions: client.DeleteOptions{GracePeriodSeconds: &five}},
		},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestSelectorOptionsAreTheSelectorOfTheCall(t *testing.T) {
	byLabel := client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(labels.Set{"a": "1"})}
	byField := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("f", "1")}
	for name, test := range map[string]struct {
		opts []client.ListOption
		want client.ListOptions
	}{
		"given":       {[]client.ListOption{byLabel, byField}, client.ListOptions{LabelSelector: byLabel, FieldSelector: byField}},
		"zero values": {[]client.ListOption{client.MatchingLabelsSelector{}, client.MatchingFieldsSelector{}}, client.ListOptions{LabelSelector: client.MatchingLabelsSelector{Selector: labels.Nothing()}, FieldSelector: client.MatchingFieldsSelector{Selector: fields.Nothing()}}},
	} {
		if got := (&client.ListOptions{}).ApplyOptions(test.opts); !reflect.DeepEqual(*got, test.want) {
			t.Errorf("%s: got %#v, want %#v", name, *got, test.want)
		}
	}
}

func TestLabelOptionsNarrowEachOtherDown(t *testing.T) {
	o := (&client.ListOptions{}).ApplyOptions([]client.ListOption{
		client.MatchingLabels{"a": "1"}, client.HasLabels{"b"}, client.MatchingLabels{"c": "2"},
	})
	if got := o.LabelSelector.String(); got != "a=1,b,c=2" {
		t.Errorf("selects %q", got)
	}
	o.ApplyOptions([]client.ListOption{client.MatchingLabelsSelector{Selector: labels.Everything()}})
	if !o.LabelSelector.Empty() {
		t.Errorf("selects %q", o.LabelSelector)
	}
	o.ApplyOptions([]client.ListOption{client.HasLabels{"not a label"}, client.MatchingLabels{"a": "1"}})
	if o.LabelSelector.Matches(labels.Set{"a": "1"}) {
		t.Errorf("a label that cannot be is ignored")
	}
}

func TestOptionsAsSentLeaveRawAlone(t *testing.T) {
	raw := &metav1.ListOptions{ResourceVersion: "5", Limit: 9}
	o := &client.ListOptions{Raw: raw, Limit: 3, LabelSelector: labels.SelectorFromSet(labels.Set{"a": "1"})}
	want := &metav1.ListOptions{ResourceVersion: "5", Limit: 3, LabelSelector: "a=1"}
	if diff := cmp.Diff(want, o.AsListOptions()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(&metav1.ListOptions{ResourceVersion: "5", Limit: 9}, raw); diff != "" {
		t.Errorf("raw changed:\n%s", diff)
	}
	watching := &client.ListOptions{Raw: &metav1.ListOptions{Watch: true}, Limit: 3}
	if got := watching.AsListOptions().Limit; got != 0 {
		t.Errorf("a watch has the limit %d", got)
	}
	if got := (*client.ListOptions)(nil).AsListOptions(); got == nil {
		t.Error("nil options are sent as nil")
	}
}
