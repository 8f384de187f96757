package gomodule

import (
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
)

// Raise returns the go.mod and go.sum of the project in root with the library of from, where a newer scaffold needs that, and nothing that it
// requires lower than the scaffold or the library does. They are the same texts where nothing is: what a project has tidied away stays away.
//
// A replacement of the library that is there is a person's, unless it names a checkout that is gone, or was made because no version was
// published and one is now.
func Raise(mod, sum, root string, from origin.Origin) (newMod, newSum string, err error) {
	file, err := Parse(mod)
	if err != nil {
		return "", "", err
	}
	own := map[string]bool{}
	for _, r := range file.Require {
		own[r.Mod.Path] = true
	}
	dir, changed, err := raiseLibrary(file, root, from)
	if err != nil {
		return "", "", err
	}
	known, sums, err := needs(dir)
	if err != nil {
		return "", "", err
	}
	var wanted []*modfile.Require
	for _, r := range known.Require {
		// What the project's own code does not need is not put back.
		if r.Indirect || own[r.Mod.Path] {
			wanted = append(wanted, r)
		}
		for _, have := range file.Require {
			if have.Mod.Path == r.Mod.Path && semver.Compare(have.Mod.Version, r.Mod.Version) < 0 {
				changed = true
			}
		}
	}
	raised, err := raiseGo(file, known)
	if err != nil {
		return "", "", err
	}
	if !changed && !raised {
		return mod, sum, nil
	}
	newMod, err = require(file, wanted)
	return newMod, mergeSums(append(sums, sum)...), err
}

// raiseLibrary changes where a go.mod has the library from, if need be. dir is its checkout, or "" for a version.
func raiseLibrary(file *modfile.File, root string, from origin.Origin) (dir string, changed bool, err error) {
	version := ""
	for _, r := range file.Require {
		if r.Mod.Path == origin.Library {
			version = r.Mod.Version
		}
	}
	for _, r := range file.Replace {
		if r.Old.Path != origin.Library {
			continue
		}
		if r.New.Version != "" {
			return "", false, nil
		}
		dir := r.New.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		at, err := origin.At(dir)
		published := from.Version != "" && version == unpublished
		if err == nil && !published {
			return at.Dir, false, nil
		}
		if from.Version == "" {
			return from.Dir, true, file.AddReplace(origin.Library, "", from.Dir, "")
		}
		if err := file.DropReplace(origin.Library, r.Old.Version); err != nil {
			return "", false, err
		}
		if semver.Compare(version, from.Version) < 0 {
			return "", true, file.AddRequire(origin.Library, from.Version)
		}
		return "", true, nil
	}
	if semver.Compare(version, from.Version) < 0 {
		return "", true, file.AddRequire(origin.Library, from.Version)
	}
	return "", false, nil
}

// needs is what the current scaffold requires, with the library at dir, unless that is empty; and their hashes.
func needs(dir string) (*modfile.File, []string, error) {
	known, err := modfile.Parse("snapshot.mod", snapshotMod, nil)
	if err != nil {
		return nil, nil, err
	}
	sums := []string{snapshotSum}
	// The library's place is the project's to say.
	if err := known.DropRequire(origin.Library); err != nil {
		return nil, nil, err
	}
	known.Cleanup()
	if dir != "" {
		library, sum, err := read(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range library.Require {
			known.Require = append(known.Require, &modfile.Require{Mod: r.Mod, Indirect: true})
		}
		sums = append(sums, sum)
	}
	return known, sums, nil
}

// raiseGo raises the version of Go to that of another go.mod.
func raiseGo(file, to *modfile.File) (bool, error) {
	if file.Go != nil && semver.Compare("v"+file.Go.Version, "v"+to.Go.Version) >= 0 {
		return false, nil
	}
	return true, file.AddGoStmt(to.Go.Version)
}

// require returns a go.mod with further requirements, each at the highest version that is named.
func require(file *modfile.File, more []*modfile.Require) (string, error) {
	merged := map[string]*modfile.Require{}
	for _, r := range append(append([]*modfile.Require{}, file.Require...), more...) {
		have := merged[r.Mod.Path]
		if have == nil {
			// A line of its own, since r's may be in another file.
			merged[r.Mod.Path] = &modfile.Require{Mod: module.Version{Path: r.Mod.Path, Version: r.Mod.Version}, Indirect: r.Indirect}
			continue
		}
		have.Indirect = have.Indirect && r.Indirect
		if semver.Compare(r.Mod.Version, have.Mod.Version) > 0 {
			have.Mod.Version = r.Mod.Version
		}
	}
	file.SetRequireSeparateIndirect(sorted(merged))
	file.Cleanup()
	out, err := file.Format()
	return string(out), err
}
