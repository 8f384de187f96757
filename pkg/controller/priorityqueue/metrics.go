package priorityqueue

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

// PriorityMetricsProvider is a workqueue.MetricsProvider that tells priorities apart, as the one that NewMetricsProvider
// returns does. A queue with such a provider (Opts.MetricProvider) calls NewDepthMetricWithPriority in the place of
// NewDepthMetric; with any other it counts all of its due keys together.
type PriorityMetricsProvider interface {
	workqueue.MetricsProvider

	// NewDepthMetricWithPriority returns what counts the due keys of the queue with that name.
	NewDepthMetricWithPriority(name string) PriorityDepthMetric
}

// PriorityDepthMetric counts the due keys of each priority. A key that is raised while it is due is taken from one priority
// and put to the other. The methods are called one at a time, with the queue locked: they must be quick, and must not use
// the queue.
type PriorityDepthMetric interface {
	Inc(priority int)
	Dec(priority int)
}

// flatDepth counts due keys for a provider that does not tell priorities apart.
type flatDepth struct{ workqueue.GaugeMetric }

func (d flatDepth) Inc(int) { d.GaugeMetric.Inc() }
func (d flatDepth) Dec(int) { d.GaugeMetric.Dec() }

// instruments are the metrics of one queue.
type instruments struct {
	depth      PriorityDepthMetric
	adds       workqueue.CounterMetric
	retries    workqueue.CounterMetric
	latency    workqueue.HistogramMetric
	work       workqueue.HistogramMetric
	unfinished workqueue.SettableGaugeMetric
	longest    workqueue.SettableGaugeMetric
}

func newInstruments(name string, p workqueue.MetricsProvider) *instruments {
	if name == "" || p == nil {
		return nil
	}
	m := &instruments{
		adds:       p.NewAddsMetric(name),
		retries:    p.NewRetriesMetric(name),
		latency:    p.NewLatencyMetric(name),
		work:       p.NewWorkDurationMetric(name),
		unfinished: p.NewUnfinishedWorkSecondsMetric(name),
		longest:    p.NewLongestRunningProcessorSecondsMetric(name),
	}
	if byPriority, ok := p.(PriorityMetricsProvider); ok {
		m.depth = byPriority.NewDepthMetricWithPriority(name)
	} else {
		m.depth = flatDepth{p.NewDepthMetric(name)}
	}
	return m
}

func (m *instruments) added(priority int) {
	m.adds.Inc()
	m.depth.Inc(priority)
}

func (m *instruments) got(priority int, waited time.Duration) {
	m.depth.Dec(priority)
	m.latency.Observe(waited.Seconds())
}

func (m *instruments) raised(from, to int) {
	if m == nil {
		return
	}
	m.depth.Dec(from)
	m.depth.Inc(to)
}
