package recipe

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asOperon has the test binary stand in for operon: it prints its arguments.
const asOperon = "OPERON_RECIPE_PRINTS"

func TestMain(m *testing.M) {
	if os.Getenv(asOperon) != "" {
		fmt.Fprintln(os.Stderr, strings.Join(os.Args[1:], " "))
		return
	}
	os.Exit(m.Run())
}

func TestMarkersWithoutEffectAreMistakesUnlessTheMakefileSaysOtherwise(t *testing.T) {
	t.Setenv(asOperon, "1")
	operon, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	makefile := "manifests:\n\tcontroller-gen crd paths=./... --strict-markers=false\n"
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := Run(t.Context(), operon, dir, &said); err != nil {
		t.Fatal(err)
	}
	// The last of two flags counts.
	if got, want := said.String(), "controller-gen --strict-markers crd paths=./... --strict-markers=false\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
