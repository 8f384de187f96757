package seed

import (
	"sort"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// aggregate fills the roles that collect the rules of others (admin, edit, view), as the controller of aggregated roles does: without it they
// would grant nothing until that controller has caught up.
func aggregate(roles []rbacv1.ClusterRole) {
	// admin collects edit, which collects view, so one pass for each level of them.
	for range 3 {
		for i := range roles {
			if roles[i].AggregationRule != nil {
				roles[i].Rules = collect(&roles[i], roles)
			}
		}
	}
}

func collect(into *rbacv1.ClusterRole, roles []rbacv1.ClusterRole) []rbacv1.PolicyRule {
	var from []*rbacv1.ClusterRole
	for _, selector := range into.AggregationRule.ClusterRoleSelectors {
		match, err := metav1.LabelSelectorAsSelector(&selector)
		if err != nil {
			continue
		}
		for i := range roles {
			if roles[i].Name != into.Name && match.Matches(labels.Set(roles[i].Labels)) {
				from = append(from, &roles[i])
			}
		}
	}
	sort.Slice(from, func(i, j int) bool { return from[i].Name < from[j].Name })
	var rules []rbacv1.PolicyRule
	for _, role := range from {
		for _, rule := range role.Rules {
			if !contains(rules, rule) {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

func contains(rules []rbacv1.PolicyRule, rule rbacv1.PolicyRule) bool {
	for _, r := range rules {
		if equality.Semantic.DeepEqual(r, rule) {
			return true
		}
	}
	return false
}
