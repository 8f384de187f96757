package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart measures from the start of the process to its ready line, one Ready node included, and the memory that it
// took until then. It reports medians; -benchtime=10x makes it ten starts.
func BenchmarkStart(b *testing.B) {
	var seconds, megabytes, stops []float64
	for b.Loop() {
		began := time.Now()
		p := launch(b, "--nodes=1")
		<-p.ready
		seconds = append(seconds, time.Since(began).Seconds())
		megabytes = append(megabytes, peakMegabytes(b, p.cmd.Process.Pid))
		stops = append(stops, p.interrupt(b).Seconds())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(seconds), "s/ready")
	b.ReportMetric(median(stops), "s/stop")
	b.ReportMetric(median(megabytes), "MB/peak")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// peakMegabytes reads the largest resident size that the process had, where the system tells.
func peakMegabytes(b *testing.B, pid int) float64 {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kilobytes / 1024
		}
	}
	return 0
}
