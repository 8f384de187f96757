package admit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operon-dev/operon/cmd/operon/generate"
)

// Judge is a [generate.Judge] for CustomResourceDefinitions in apiextensions.k8s.io/v1 that are created anew. It may be called concurrently. Where
// a schema is wrong, so that the API server would not come to its rules, they are looked at all the same.
func Judge(ctx context.Context, object []byte) ([]generate.Refusal, error) {
	var external v1.CustomResourceDefinition
	if err := json.Unmarshal(object, &external); err != nil {
		if field := new(json.UnmarshalTypeError); errors.As(err, &field) {
			return []generate.Refusal{{Path: field.Field, Reason: "Invalid value", Detail: fmt.Sprintf("it cannot hold this %s", field.Value)}}, nil
		}
		return nil, fmt.Errorf("definition: %w", err)
	}
	refusals, err := check(ctx, &external)
	if err != nil || !slices.ContainsFunc(refusals, hidesRules) {
		return refusals, err
	}
	// The API server looks at no rule of a schema that is wrong otherwise.
	open := mendAll(&external)
	more, err := check(ctx, &external)
	for _, r := range more {
		// What is open now may have had the field that is undefined.
		if isRule(r) && !(open && undefined(r)) && !slices.Contains(refusals, r) {
			refusals = append(refusals, r)
		}
	}
	return refusals, err
}

// check is what the API server does about a definition in the version of the request.
func check(ctx context.Context, external *v1.CustomResourceDefinition) ([]generate.Refusal, error) {
	external = external.DeepCopy()
	v1.SetDefaults_CustomResourceDefinition(external)
	v1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	var definition apiextensions.CustomResourceDefinition
	if err := v1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(external, &definition, nil); err != nil {
		return nil, fmt.Errorf("definition %s: %w", external.Name, err)
	}
	// What the API server sets itself before it looks.
	for _, version := range definition.Spec.Versions {
		if version.Storage {
			definition.Status.StoredVersions = []string{version.Name}
		}
	}
	var out []generate.Refusal
	for _, err := range validation.ValidateCustomResourceDefinition(ctx, &definition) {
		if r := refusal(err); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	// The API server goes through its maps in any order.
	slices.SortFunc(out, func(a, b generate.Refusal) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail), cmp.Compare(a.Value, b.Value))
	})
	return out, ctx.Err()
}

// longest is how long a value is at most that is worth showing.
const longest = 60

func refusal(err *field.Error) generate.Refusal {
	r := generate.Refusal{Path: err.Field, Reason: err.Type.String(), Detail: err.Detail}
	value := reflect.ValueOf(err.BadValue)
	if value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	if value.Kind() == reflect.String || value.CanInt() || value.CanFloat() || value.Kind() == reflect.Bool {
		r.Value = fmt.Sprint(value)
	}
	if len(r.Value) > longest {
		r.Value = ""
	}
	return r
}
