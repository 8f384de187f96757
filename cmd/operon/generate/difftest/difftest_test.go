package difftest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate/admit"
	"github.com/operon-dev/operon/cmd/operon/generate/cli"
	"github.com/operon-dev/operon/cmd/operon/generate/difftest"
)

// asProgram has the test binary be the program under test: Operon's generators, without the rest of the command.
const asProgram = "OPERON_DIFFTEST_GENERATE"

var controllerGen, operon difftest.Program

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		run := cli.Begin(os.Args[1:], os.Stdout, os.Stderr)
		os.Exit(run.End(admit.Judge))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "difftest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if controllerGen, err = difftest.BuildControllerGen(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	operon = difftest.Program{Name: "operon", Command: []string{self}, Env: []string{asProgram + "=1", "OPERON_GENERATE_CACHE=" + filepath.Join(dir, "cache")}}
	return m.Run()
}

// The same bytes as controller-gen's, aspect by aspect.
func TestSmallPackages(t *testing.T) {
	cases, err := difftest.Small(filepath.Join("testdata", "small"))
	if err != nil {
		t.Fatal(err)
	}
	compareAll(t, cases, operon)
}

// The same bytes as controller-gen's for definitions that the API server refuses, for who patches them afterwards.
func TestRefusedDefinitionsThatAreAllowed(t *testing.T) {
	cases, err := difftest.Small(filepath.Join("testdata", "small"))
	if err != nil {
		t.Fatal(err)
	}
	cases = slices.DeleteFunc(cases, func(c difftest.Case) bool {
		return !c.Refused || !strings.HasPrefix(c.Name, "crd-") && !strings.HasPrefix(c.Name, "schemapatch-")
	})
	if len(cases) == 0 {
		t.Fatal("no definition is refused")
	}
	lenient := operon
	lenient.Command = append(slices.Clone(operon.Command), "--allow-refused")
	for i := range cases {
		cases[i].Refused = false
	}
	compareAll(t, cases, lenient)
}

// The same bytes as controller-gen's on API packages that people have published. OPERON_CORPUS_LIST names another list of them.
func TestPublishedModules(t *testing.T) {
	list := os.Getenv("OPERON_CORPUS_LIST")
	if list == "" {
		list = filepath.Join("testdata", "modules.txt")
	}
	cases, err := difftest.Published(list)
	if err != nil {
		t.Fatal(err)
	}
	compareAll(t, cases, operon)
}

func compareAll(t *testing.T, cases []difftest.Case, program difftest.Program) {
	files := 0
	for _, c := range cases {
		if !c.Core && os.Getenv("OPERON_CORPUS") != "all" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.Write(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			tree, err := difftest.NewTree(dir, filepath.Join(t.TempDir(), "original"))
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range c.Runs {
				result, err := difftest.Compare(t.Context(), tree, controllerGen, program, args, c.Refused)
				if err != nil {
					t.Fatal(err)
				}
				files += result.Files
				for _, d := range result.Differences {
					t.Errorf("%s\n%s", strings.Join(args, " "), d)
				}
			}
		})
	}
	t.Logf("%d files compared", files)
}
