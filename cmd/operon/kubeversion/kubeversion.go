package kubeversion

import (
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

// Version is the version of the Kubernetes modules in go.mod.
const Version = "v1.37.1"

//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

//go:linkname gitMajor k8s.io/component-base/version.gitMajor
var gitMajor string

//go:linkname gitMinor k8s.io/component-base/version.gitMinor
var gitMinor string

//go:linkname gitTreeState k8s.io/component-base/version.gitTreeState
var gitTreeState string

func init() {
	gitVersion, gitMajor, gitMinor, gitTreeState = Version, "1", "37", "clean"
	if err := version.SetDynamicVersion(Version); err != nil {
		panic(err)
	}
}
