package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/bench/served"
	"github.com/operon-dev/operon/pkg/cache"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
)

func init() { children["list"] = listInChild }

// peakRows measures the most memory that a process which fills a cache of pods has held, itself included. It is a child
// of this one for each sample, and known where the system says so (Linux).
func peakRows(ctx context.Context, s *served.Server, f form, p plan) ([]report.Row, error) {
	if _, err := peakOfThis(); err != nil {
		return nil, nil
	}
	if _, err := s.Prepare(f.asked); err != nil {
		return nil, err
	}
	libraries := []string{"operon", "peer"}
	samples := make([][]float64, len(libraries))
	for round := range p.rounds() {
		for _, i := range inTurn(round, len(libraries)) {
			out, err := inChild(ctx, "list", libraries[i], s.URL(), fmt.Sprint(s.Count))
			if err != nil {
				return nil, err
			}
			peak, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
			if err != nil {
				return nil, fmt.Errorf("peak memory of a child: %w", err)
			}
			samples[i] = append(samples[i], peak)
		}
	}
	return p.of(report.Row{
		Name: "Peak RSS of the initial list of Pods", Size: s.Count, Unit: report.Bytes, Ours: samples[0], Peer: samples[1], PeerName: "default",
		Note: "of a whole process that fills one cache, with the default settings of the garbage collector",
	}), nil
}

// listInChild fills a cache of pods from a parent's server, and prints the peak of this process.
func listInChild(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("list: want library, URL and count")
	}
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	r := served.Pods(count)
	var f fillable
	if args[0] == "operon" {
		f, _, err = ourFillable(args[1], r, cache.Options{}, typedPods)
	} else {
		f, _, err = peerFillable(args[1], r, peercache.Options{}, typedPods)
	}
	if err != nil {
		return err
	}
	running := startCache(ctx, f.cache)
	if err := f.list(ctx); err != nil {
		return errors.Join(err, running.stop())
	}
	peak, err := peakOfThis()
	if err == nil {
		fmt.Println(peak)
	}
	return errors.Join(err, running.stop())
}

// peakOfThis returns the most memory that this process has held, in bytes.
func peakOfThis() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			return kib * 1024, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}
