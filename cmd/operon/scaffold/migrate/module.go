package migrate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
)

// compatModule is where, below the library, the module is that is Operon under controller-runtime's name.
const compatModule = "/compat/controller-runtime"

// moveModule plans go.mod and go.sum, as far as they are known without asking for modules.
func (p *Plan) moveModule(mod string, opts Options) error {
	sum, err := os.ReadFile(filepath.Join(p.Set.Root(), "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p.module = gomodule.Path(mod)
	newMod, newSum, err := gomodule.Require(mod, string(sum), p.module, opts.From)
	if err != nil {
		return err
	}
	file, err := gomodule.Parse(newMod)
	if err != nil {
		return err
	}
	for _, r := range append([]*modfile.Replace{}, file.Replace...) {
		if r.Old.Path != gomodule.ControllerRuntime {
			continue
		}
		p.note("go.mod replaced %s by %s: that is gone, and with it what was special there", gomodule.ControllerRuntime, r.New.Path)
		if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}
	if opts.Compat {
		target := opts.From.Dir + compatModule
		if opts.From.Version != "" {
			target = origin.Library + compatModule
		}
		err = file.AddReplace(gomodule.ControllerRuntime, "", target, opts.From.Version)
	} else {
		err = file.DropRequire(gomodule.ControllerRuntime)
	}
	if err != nil {
		return err
	}
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		return err
	}
	if opts.From.Dir != "" {
		image := "go mod vendor first"
		if p.Scaffolded {
			image = "operon build makes the image, or " + image
		}
		p.note("go.mod refers to the checkout %s, which docker build does not see: %s", opts.From.Dir, image)
	}
	if err := p.Set.Create("go.mod", string(out)); err != nil {
		return err
	}
	return p.Set.Create("go.sum", newSum)
}
