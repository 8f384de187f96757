package migrate

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// goVersion is the version of Go that projects on Operon are built with.
const goVersion = "1.26"

// isDockerfile reports whether a file says how an image is made, by its name.
func isDockerfile(rel string) bool {
	base := path.Base(rel)
	for _, name := range []string{"Dockerfile", "Containerfile"} {
		if base == name || strings.HasPrefix(base, name+".") || strings.HasSuffix(base, "."+name) {
			return true
		}
	}
	return false
}

var (
	// A version of Go in an image's name, what follows it in a tag, and a digest, which would go on naming the older image.
	golangImage = regexp.MustCompile(`(?m)^(FROM\s+(?:--\S+\s+)*(?:\S+/)?golang:)(\d+\.\d+)(?:\.\d+)?([^\s@]*)(?:@\S+)?`)
	// The name of an argument that holds that version instead.
	golangArgument = regexp.MustCompile(`(?m)^FROM\s+(?:--\S+\s+)*(?:\S+/)?golang:\$\{?(\w+)`)
)

// moveDockerfile has a Dockerfile build with a version of Go that go.mod takes.
func moveDockerfile(text string) string {
	text = raiseGo(golangImage, text)
	for _, argument := range golangArgument.FindAllStringSubmatch(text, -1) {
		text = raiseGo(regexp.MustCompile(`(?m)^(ARG\s+`+argument[1]+`="?)(\d+\.\d+)(?:\.\d+)?([^\s@]*)`), text)
	}
	return text
}

// raiseGo raises the version of Go where an expression finds it, between two other groups.
func raiseGo(found *regexp.Regexp, text string) string {
	return found.ReplaceAllStringFunc(text, func(line string) string {
		parts := found.FindStringSubmatch(line)
		if semver.Compare("v"+parts[2], "v"+goVersion) >= 0 {
			return line
		}
		return fmt.Sprint(parts[1], goVersion, strings.TrimPrefix(parts[3], "."))
	})
}
