package scaffold

import (
	"errors"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// editOptions are what "operon edit" takes. Nil means: as it is.
type editOptions struct {
	multiGroup *bool
}

// editProject plans a change of a project's settings.
func editProject(p *project.Project, opts editOptions) (*fileset.Set, error) {
	if opts.multiGroup == nil {
		return nil, errors.New("there is nothing to change: say what, as in --multigroup")
	}
	if !*opts.multiGroup {
		groups := map[string]bool{}
		for _, r := range p.Resources {
			if layout.Of(p, r).Own() {
				groups[r.Group] = true
			}
		}
		if len(groups) > 1 {
			return nil, errors.New("the project's kinds are of several groups, which need directories of their own: --multigroup stays")
		}
	}
	p.MultiGroup = *opts.multiGroup
	set := fileset.New(p.Root(), false)
	return set, saveProject(set, p)
}
