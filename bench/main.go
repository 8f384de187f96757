package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/go-logr/logr"
	operon "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/envtest"
	"k8s.io/client-go/rest"
	peer "sigs.k8s.io/controller-runtime"
)

func main() {
	quick := flag.Bool("quick", false, "take fewer rounds")
	write := flag.Bool("write", false, "write RESULTS.md and results.json too")
	flag.Parse()
	operon.SetLogger(logr.Discard())
	peer.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *quick, *write); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// rounds are how often each contender runs.
type rounds struct {
	reads, heap, writes, queue, starts int
}

// limit bounds a run: a contender that hangs ends it with an error.
const limit = 10 * time.Minute

func run(ctx context.Context, quick, write bool) error {
	n := rounds{reads: 15, heap: 5, writes: 500, queue: 15, starts: 15}
	if quick {
		n = rounds{reads: 5, heap: 3, writes: 500, queue: 5, starts: 5}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	rows, err := measure(ctx, n)
	if err != nil {
		return err
	}
	report := newReport(rows, quick, time.Since(began))
	if err := report.writeText(os.Stdout); err != nil || !write {
		return err
	}
	return errors.Join(writeFile("RESULTS.md", report.writeMarkdown), writeFile("results.json", report.writeJSON))
}

// measure runs the rows that need no control plane first, so that it does not take their processor time.
func measure(ctx context.Context, n rounds) ([]row, error) {
	rows, err := cacheRows(ctx, n)
	if err != nil {
		return nil, err
	}
	queue, err := queueRows(n.queue)
	if err != nil {
		return nil, err
	}
	noop, err := noopRows(n.queue)
	if err != nil {
		return nil, err
	}
	cluster, err := clusterRows(ctx, n)
	return append(append(append(rows, queue...), noop...), cluster...), err
}

func cacheRows(ctx context.Context, n rounds) ([]row, error) {
	pods := makePods(10_000)
	server, err := newPodServer(pods)
	if err != nil {
		return nil, err
	}
	defer server.close()
	reads, err := readRows(ctx, server, pods, n.reads)
	if err != nil {
		return nil, err
	}
	heap, err := heapRows(ctx, server, len(pods), n.heap)
	return append(reads, heap...), err
}

func clusterRows(ctx context.Context, n rounds) (rows []row, err error) {
	environment := &envtest.Environment{}
	cfg, err := environment.Start()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	unlimited := rest.CopyConfig(cfg)
	unlimited.QPS = -1

	writes, err := ownWriteRows(ctx, unlimited, n.writes)
	if err != nil {
		return nil, err
	}
	starts, err := firstReconcileRows(ctx, unlimited, n.starts)
	return append(writes, starts...), err
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
