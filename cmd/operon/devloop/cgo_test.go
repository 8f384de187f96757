package devloop

import (
	"os/exec"
	"testing"
)

func TestCgoIsUsedBySourcesThatHaveAPartInC(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no C compiler: there is no cgo to decide on")
	}
	t.Setenv("CGO_ENABLED", "")
	t.Setenv("CC", "")
	root := newProject(t, managerSource("plain"))
	write(t, root, "cmd/with.go", "//go:build cgo\n\npackage main\n\nimport \"fmt\"\n\nfunc init() { fmt.Println(\"built with cgo\") }\n")
	write(t, root, "cmd/without.go", "//go:build !cgo\n\npackage main\n\nimport \"fmt\"\n\nfunc init() { fmt.Println(\"built without\") }\n")
	out, said, _ := start(t, root)
	out.await(t, "built without")
	out.await(t, "manager plain")

	write(t, root, "cmd/c.go", "package main\n\n// static int seven(void) { return 7; }\nimport \"C\"\nimport \"fmt\"\n\nfunc inC() string { return fmt.Sprint(\"from C: \", C.seven()) }\n")
	write(t, root, "cmd/call.go", "package main\n\nfunc init() { println(inC()) }\n")
	said.await(t, "building it again, with cgo")
	out.await(t, "built with cgo")
	out.await(t, "manager plain")
}
