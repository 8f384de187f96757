package rbac_test

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
	"github.com/operon-dev/operon/cmd/operon/generate/rbac"
)

var _ generate.Generator = rbac.Generator{}

func TestRoles(t *testing.T) {
	golden.Test(t, "testdata/*.txtar", rbac.Generator{RoleName: "manager-role"})
}

func TestBindingsOnRequest(t *testing.T) {
	golden.Test(t, "testdata/bound/*.txtar", rbac.Generator{RoleName: "manager-role", BindTo: "system/controller-manager"})
}

func TestBindToMustNameAServiceAccount(t *testing.T) {
	for _, to := range []string{"controller-manager", "/controller-manager", "system/", "a/b/c"} {
		_, err := rbac.Generator{RoleName: "r", BindTo: to}.Generate(t.Context(), &generate.Input{})
		if err == nil || !strings.Contains(err.Error(), "namespace/name") {
			t.Errorf("bindTo=%s: error %v, want one that says namespace/name", to, err)
		}
	}
}
