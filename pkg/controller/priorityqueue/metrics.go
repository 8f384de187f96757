package priorityqueue

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

// depthGauge counts the due keys of each priority.
type depthGauge interface {
	Inc(priority int)
	Dec(priority int)
}

// depthByPriority is what a MetricsProvider implements that tells priorities apart.
type depthByPriority interface {
	newDepthByPriority(name string) depthGauge
}

// flatDepth counts due keys for a provider that does not tell priorities apart.
type flatDepth struct{ workqueue.GaugeMetric }

func (d flatDepth) Inc(int) { d.GaugeMetric.Inc() }
func (d flatDepth) Dec(int) { d.GaugeMetric.Dec() }

// instruments are the metrics of one queue.
type instruments struct {
	depth      depthGauge
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
	if byPriority, ok := p.(depthByPriority); ok {
		m.depth = byPriority.newDepthByPriority(name)
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
