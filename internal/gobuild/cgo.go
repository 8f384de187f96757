package gobuild

import (
	"context"
	"os"
	"slices"
	"strings"
)

const cgoSetting = "CGO_ENABLED"

// WithoutCgo is what a build of pkg in the directory dir needs in its environment to leave cgo out where nothing is lost by it. It is nothing
// where the environment says whether there is cgo, where Go leaves it out itself for want of a C compiler, where a package of pkg's outside of
// Go has a part in C, and where go cannot tell because the code is broken.
//
// With cgo, Go's own net and os/user are other packages than without, and so is every package above them: whoever has the one has not compiled
// the other.
func WithoutCgo(ctx context.Context, dir, pkg string) []string {
	if os.Getenv(cgoSetting) != "" {
		return nil
	}
	if on, _, err := goSays(ctx, dir, nil, "env", cgoSetting); err != nil || strings.TrimSpace(on) != "1" {
		return nil
	}
	with := slices.Concat(os.Environ(), []string{cgoSetting + "=1"})
	if inC, _, err := goSays(ctx, dir, with, "list", "-deps", "-f", "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}", pkg); err != nil || strings.TrimSpace(inC) != "" {
		return nil
	}
	return []string{cgoSetting + "=0"}
}
