package apiutil

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrResourceDiscoveryFailed says that the server could not be asked about some group versions, and why for each. A group
// version that the server does not have appears as a meta.NoResourceMatchError, so that meta.IsNoMatchError holds.
type ErrResourceDiscoveryFailed map[schema.GroupVersion]error

// Error implements error. It lists the group versions in a fixed order.
func (e *ErrResourceDiscoveryFailed) Error() string {
	parts := make([]string, 0, len(*e))
	for gv, err := range *e {
		parts = append(parts, fmt.Sprintf("%s: %v", gv, err))
	}
	slices.Sort(parts)
	return "server resources unknown: " + strings.Join(parts, ", ")
}

// Unwrap returns the reasons, for errors.Is and errors.As.
func (e *ErrResourceDiscoveryFailed) Unwrap() []error {
	errs := make([]error, 0, len(*e))
	for _, err := range *e {
		errs = append(errs, err)
	}
	return errs
}
