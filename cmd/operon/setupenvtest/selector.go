package setupenvtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// number is a version of Kubernetes.
type number struct{ major, minor, patch int }

func (n number) String() string { return fmt.Sprintf("%d.%d.%d", n.major, n.minor, n.patch) }

// compare is negative, zero or positive, as n is lower than, the same as or higher than m.
func (n number) compare(m number) int {
	for _, d := range []int{n.major - m.major, n.minor - m.minor} {
		if d != 0 {
			return d
		}
	}
	return n.patch - m.patch
}

var (
	wholeNumber = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)$`)
	anyNumber   = regexp.MustCompile(`^(~|<=|<)?v?(\d+)\.(\d+)(?:\.(\d+|x|\*))?!?$`)
)

func parseNumber(text string) (number, bool) {
	found := wholeNumber.FindStringSubmatch(text)
	if found == nil {
		return number{}, false
	}
	return number{atoi(found[1]), atoi(found[2]), atoi(found[3])}, true
}

// selector says which versions are meant.
type selector struct {
	text string
	// matches is nil for all versions.
	matches func(number) bool
}

func (s selector) has(n number) bool { return s.matches == nil || s.matches(n) }

// parseSelector reads a selector as setup-envtest has it: X.Y.Z; X.Y, X.Y.x or X.Y.*; ~X.Y.Z; <X.Y.Z, <=X.Y.Z; latest, latest-on-disk or nothing.
// A "!" at the end, which asks for a look at what can be downloaded, changes nothing.
func parseSelector(text string) (selector, error) {
	s := selector{text: text}
	switch text {
	case "", "latest", "latest-on-disk", "latest!":
		return s, nil
	}
	found := anyNumber.FindStringSubmatch(text)
	if found == nil {
		return s, fmt.Errorf("%q is not a version: give X.Y.Z, X.Y or X.Y.x, perhaps after ~, < or <=, or latest", text)
	}
	how, patch := found[1], found[4]
	base := number{major: atoi(found[2]), minor: atoi(found[3])}
	wild := patch == "" || patch == "x" || patch == "*"
	if !wild {
		base.patch = atoi(patch)
	}
	sameMinor := func(n number) bool { return n.major == base.major && n.minor == base.minor }
	switch {
	case how == "<=" && wild:
		s.matches = func(n number) bool { return sameMinor(n) || n.compare(base) < 0 }
	case how == "<=":
		s.matches = func(n number) bool { return n.compare(base) <= 0 }
	case how == "<":
		s.matches = func(n number) bool { return n.compare(base) < 0 }
	case how == "~":
		s.matches = func(n number) bool { return sameMinor(n) && n.compare(base) >= 0 }
	case wild:
		s.matches = sameMinor
	default:
		s.matches = func(n number) bool { return n == base }
	}
	return s, nil
}

// atoi reads digits; more of them than a version has are no version that there is.
func atoi(digits string) int {
	n, err := strconv.Atoi(strings.TrimLeft(digits, "0"))
	if err != nil && strings.Trim(digits, "0") != "" {
		return 1 << 30
	}
	return n
}
