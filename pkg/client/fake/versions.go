package fake

import (
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/operon-dev/operon/pkg/client"
)

// givenVersion is the resourceVersion of objects that the builder was given without one.
const givenVersion = "999"

// versions hands out resourceVersions: each object counts for itself, or all count together.
type versions struct {
	global bool
	last   uint64
}

// given returns the resourceVersion of an object that the builder was given.
func (v *versions) given(own string) string {
	switch n, err := strconv.ParseUint(own, 10, 64); {
	case own == "" && !v.global:
		return givenVersion
	case own == "":
		v.last++
		return strconv.FormatUint(v.last, 10)
	case err == nil && v.global:
		v.last = max(v.last, n)
	}
	return own
}

// created returns the resourceVersion of a new object.
func (v *versions) created() string {
	if !v.global {
		return "1"
	}
	v.last++
	return strconv.FormatUint(v.last, 10)
}

// next returns the resourceVersion that follows that of obj.
func (v *versions) next(obj client.Object) (string, error) {
	if v.global {
		return v.created(), nil
	}
	last := obj.GetResourceVersion()
	if last == "" {
		return "1", nil
	}
	n, err := strconv.ParseUint(last, 10, 64)
	if err != nil {
		return "", apierrors.NewInternalError(fmt.Errorf("%s: resourceVersion %q is not a number that could be counted on", keyOf(obj), last))
	}
	return strconv.FormatUint(n+1, 10), nil
}
