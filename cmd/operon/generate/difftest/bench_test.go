package difftest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/operon-dev/operon/cmd/operon/generate/difftest"
)

// BenchmarkPublishedModules runs all generators over API packages that people have published, and prints the wall time and the
// peak memory of Operon and controller-gen, in turns, and their ratios: with everything to do, with nothing changed since the last run, and
// for the first run of all, in which rules are judged that the others remember the verdicts of. With OPERON=PATH it measures that binary's "controller-gen", else the generators alone.
func BenchmarkPublishedModules(b *testing.B) {
	cases, err := difftest.Published(filepath.Join("testdata", "modules.txt"))
	if err != nil {
		b.Fatal(err)
	}
	ours := operon
	if path := os.Getenv("OPERON"); path != "" {
		ours = difftest.Program{Name: "operon", Command: []string{path, "controller-gen"}}
	}
	for _, c := range cases {
		if !c.Core && os.Getenv("OPERON_CORPUS") != "all" {
			continue
		}
		b.Run(c.Name, func(b *testing.B) {
			dir := b.TempDir()
			if err := c.Write(b.Context(), dir); err != nil {
				b.Fatal(err)
			}
			tree, err := difftest.NewTree(dir, filepath.Join(b.TempDir(), "original"))
			if err != nil {
				b.Fatal(err)
			}
			args := c.Runs[0]
			measure := func(p difftest.Program, restore bool, flags ...string) difftest.Outcome {
				if restore {
					if err := tree.Restore(); err != nil {
						b.Fatal(err)
					}
				}
				debug.FreeOSMemory()
				outcome, err := p.Run(b.Context(), dir, append(flags, args...)...)
				if err != nil {
					b.Fatal(err)
				}
				if outcome.ExitCode != 0 {
					b.Fatalf("%s: %s", p.Name, outcome.Stderr)
				}
				return outcome
			}
			// The first run of each may download and read from disk what the others find in memory.
			measure(controllerGen, true)
			measure(ours, true)
			var theirs, first, work, again []difftest.Outcome
			for b.Loop() {
				theirs = append(theirs, measure(controllerGen, true))
				p := ours
				p.Env = append(slices.Clone(p.Env), "OPERON_GENERATE_CACHE="+b.TempDir())
				first = append(first, measure(p, true))
				work = append(work, measure(p, true, "--no-cache"))
				again = append(again, measure(p, false))
			}
			base, judged, do, idle := median(theirs), median(first), median(work), median(again)
			b.ReportMetric(do.Wall.Seconds()/base.Wall.Seconds(), "wall/theirs")
			b.ReportMetric(float64(do.MaxRSS)/float64(base.MaxRSS), "memory/theirs")
			b.ReportMetric(idle.Wall.Seconds()/base.Wall.Seconds(), "unchanged-wall/theirs")
			b.ReportMetric(float64(idle.MaxRSS)/float64(base.MaxRSS), "unchanged-memory/theirs")
			b.ReportMetric(judged.Wall.Seconds()/base.Wall.Seconds(), "first-wall/theirs")
			b.ReportMetric(float64(judged.MaxRSS)/float64(base.MaxRSS), "first-memory/theirs")
			b.Logf("%d rounds, medians: controller-gen %s, operon %s, operon with nothing changed %s, operon's first run %s",
				len(theirs), figures(base), figures(do), figures(idle), figures(judged))
		})
	}
}

// median returns the median wall time and the median peak memory of several runs.
func median(all []difftest.Outcome) difftest.Outcome {
	walls := make([]time.Duration, len(all))
	memory := make([]int64, len(all))
	for i, o := range all {
		walls[i], memory[i] = o.Wall, o.MaxRSS
	}
	slices.Sort(walls)
	slices.Sort(memory)
	return difftest.Outcome{Wall: walls[len(walls)/2], MaxRSS: memory[len(memory)/2]}
}

func figures(o difftest.Outcome) string {
	return fmt.Sprintf("%d ms %d MB", o.Wall.Milliseconds(), o.MaxRSS>>20)
}
