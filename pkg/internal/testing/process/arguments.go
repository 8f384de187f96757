package process

import (
	"maps"
	"slices"
)

// Arg is one flag: its values, perhaps on top of default values.
type Arg interface {
	// Append returns a flag with these values besides the present ones. The
	// present Arg is not to be used after that.
	Append(vals ...string) Arg
	// Get returns the values, given the defaults. Nil leaves the flag out; an
	// empty slice that is not nil passes the flag's name alone.
	Get(defaults []string) []string
}

var (
	// DontPass leaves a flag out, whatever its defaults are.
	DontPass Arg = without{}
	// PassAsName passes a flag's name and no value.
	PassAsName Arg = nameOnly{}
)

// set are values that replace the defaults; added are values besides them.
type (
	set      []string
	added    []string
	without  struct{}
	nameOnly struct{}
)

func (a set) Append(vals ...string) Arg { return append(a, vals...) }

func (a set) Get([]string) []string { return a }

func (a added) Append(vals ...string) Arg { return append(a, vals...) }

func (a added) Get(defaults []string) []string { return slices.Concat(defaults, a) }

func (without) Append(vals ...string) Arg { return set(vals) }

func (without) Get([]string) []string { return nil }

func (nameOnly) Append(vals ...string) Arg { return set(vals) }

func (nameOnly) Get([]string) []string { return []string{} }

// FuncArg computes a flag's values from the defaults when the program is
// started. Append has no effect on it.
type FuncArg func([]string) []string

// Append returns the FuncArg as it is.
func (a FuncArg) Append(...string) Arg { return a }

// Get calls the function.
func (a FuncArg) Get(defaults []string) []string { return a(defaults) }

// Arguments are the flags of a program by name, without leading dashes. Flags
// that were never mentioned keep their defaults. Methods that set flags change
// the Arguments and return them, so that calls can be chained. One goroutine
// uses them at a time.
type Arguments struct {
	flags map[string]Arg
}

// EmptyArguments returns Arguments in which nothing is set.
func EmptyArguments() *Arguments { return &Arguments{flags: map[string]Arg{}} }

// Get returns the flag, nil where it was never mentioned.
func (a *Arguments) Get(key string) Arg { return a.flags[key] }

// Set gives the flag these values instead of any others and of its defaults.
// Several values pass the flag several times; none passes its name alone.
func (a *Arguments) Set(key string, values ...string) *Arguments {
	return a.SetRaw(key, append(set{}, values...))
}

// SetRaw sets the flag to an Arg of the caller's making.
func (a *Arguments) SetRaw(key string, val Arg) *Arguments {
	a.flags[key] = val
	return a
}

// Append gives the flag these values besides those it has, its defaults among them.
func (a *Arguments) Append(key string, values ...string) *Arguments {
	if a.flags[key] == nil {
		return a.SetRaw(key, append(added{}, values...))
	}
	return a.SetRaw(key, a.flags[key].Append(values...))
}

// AppendNoDefaults gives the flag these values besides those that were set, but not its defaults.
func (a *Arguments) AppendNoDefaults(key string, values ...string) *Arguments {
	if a.flags[key] == nil {
		return a.Set(key, values...)
	}
	return a.SetRaw(key, a.flags[key].Append(values...))
}

// Enable passes the flag's name without a value.
func (a *Arguments) Enable(key string) *Arguments { return a.SetRaw(key, PassAsName) }

// Disable leaves the flag out, even where it has a default.
func (a *Arguments) Disable(key string) *Arguments { return a.SetRaw(key, DontPass) }

// Names returns the names of the flags that were mentioned, in order.
func (a *Arguments) Names() []string { return slices.Sorted(maps.Keys(a.flags)) }

// AsStrings returns the command line, in order of the flags' names: every flag
// that was mentioned or has a default, as --name=value for each value, or
// --name where there is none.
func (a *Arguments) AsStrings(defaults map[string][]string) []string {
	names := slices.Collect(maps.Keys(a.flags))
	for name := range defaults {
		if a.flags[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var line []string
	for _, name := range names {
		line = append(line, a.strings(name, defaults[name])...)
	}
	return line
}

func (a *Arguments) strings(name string, defaults []string) []string {
	values := defaults
	if flag := a.flags[name]; flag != nil {
		values = flag.Get(defaults)
	}
	if values != nil && len(values) == 0 {
		return []string{"--" + name}
	}
	var line []string
	for _, value := range values {
		line = append(line, "--"+name+"="+value)
	}
	return line
}
