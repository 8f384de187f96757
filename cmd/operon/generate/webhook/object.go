package webhook

import "encoding/json"

// configuration is a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration.
type configuration struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Webhooks   []entry  `json:"webhooks"`
}

type metadata struct {
	Name string `json:"name"`
}

// entry is a webhook of a configuration, with all fields that the API has, for the patches.
type entry struct {
	Name                    string           `json:"name"`
	ClientConfig            clientConfig     `json:"clientConfig"`
	Rules                   []rule           `json:"rules,omitempty"`
	FailurePolicy           *string          `json:"failurePolicy,omitempty"`
	MatchPolicy             *string          `json:"matchPolicy,omitempty"`
	NamespaceSelector       *selector        `json:"namespaceSelector,omitempty"`
	ObjectSelector          *selector        `json:"objectSelector,omitempty"`
	SideEffects             *string          `json:"sideEffects"`
	TimeoutSeconds          *int32           `json:"timeoutSeconds,omitempty"`
	AdmissionReviewVersions []string         `json:"admissionReviewVersions"`
	ReinvocationPolicy      *string          `json:"reinvocationPolicy,omitempty"`
	MatchConditions         []matchCondition `json:"matchConditions,omitempty"`
}

type clientConfig struct {
	URL      *string  `json:"url,omitempty"`
	Service  *service `json:"service,omitempty"`
	CABundle []byte   `json:"caBundle,omitempty"`
}

type service struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Path      *string `json:"path,omitempty"`
	Port      *int32  `json:"port,omitempty"`
}

type rule struct {
	Operations  []string `json:"operations,omitempty"`
	APIGroups   []string `json:"apiGroups,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	Resources   []string `json:"resources,omitempty"`
	Scope       *string  `json:"scope,omitempty"`
}

type selector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
	MatchExpressions []requirement     `json:"matchExpressions,omitempty"`
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

type matchCondition struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

// merge applies a JSON merge patch. For a webhook this is what a strategic merge patch does, too: its one list with a
// merge key, matchConditions, can only come from a patch.
func merge(target, patch map[string]json.RawMessage) error {
	for key, value := range patch {
		if string(value) == "null" {
			delete(target, key)
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(value, &inner) != nil {
			target[key] = value
			continue
		}
		old := map[string]json.RawMessage{}
		if current, ok := target[key]; ok {
			if err := json.Unmarshal(current, &old); err != nil {
				return err
			}
		}
		if err := merge(old, inner); err != nil {
			return err
		}
		merged, err := json.Marshal(old)
		if err != nil {
			return err
		}
		target[key] = merged
	}
	return nil
}
