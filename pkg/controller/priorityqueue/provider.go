package priorityqueue

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/metrics"
)

// NewMetricsProvider returns a provider of the workqueue_* metrics, under the names and labels that controller-runtime
// gives them, in reg. All providers of one registry share its metrics: queues of the same name count together.
//
// Where reg holds other metrics of these names, those stay, and the provider's are counted but not exposed.
func NewMetricsProvider(reg prometheus.Registerer) workqueue.MetricsProvider {
	fresh := newCollectors()
	if err := reg.Register(fresh); err != nil {
		var already prometheus.AlreadyRegisteredError
		if errors.As(err, &already) {
			if shared, ok := already.ExistingCollector.(*collectors); ok {
				return provider{shared}
			}
		}
	}
	return provider{fresh}
}

// collectors are the metrics of all queues of a registry.
type collectors struct {
	depth      *prometheus.GaugeVec
	adds       *prometheus.CounterVec
	latency    *prometheus.HistogramVec
	work       *prometheus.HistogramVec
	unfinished *prometheus.GaugeVec
	longest    *prometheus.GaugeVec
	retries    *prometheus.CounterVec
}

func newCollectors() *collectors {
	labels := []string{"name", "controller"}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help}, labels)
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help}, labels)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Subsystem:                       metrics.WorkQueueSubsystem,
			Name:                            name,
			Help:                            help,
			Buckets:                         prometheus.ExponentialBuckets(10e-9, 10, 12),
			NativeHistogramBucketFactor:     1.1,
			NativeHistogramMaxBucketNumber:  100,
			NativeHistogramMinResetDuration: time.Hour,
		}, labels)
	}
	return &collectors{
		depth:      gauge(metrics.DepthKey, "Keys in the queue that are due, by priority", append(labels, "priority")...),
		adds:       counter(metrics.AddsKey, "Keys that became due"),
		latency:    histogram(metrics.QueueLatencyKey, "How long keys were due before a worker took them, in seconds"),
		work:       histogram(metrics.WorkDurationKey, "How long workers had keys, in seconds"),
		unfinished: gauge(metrics.UnfinishedWorkKey, "How long workers have had the keys that they have now, summed up, in seconds", labels...),
		longest:    gauge(metrics.LongestRunningProcessorKey, "How long the longest of these keys has been with its worker, in seconds", labels...),
		retries:    counter(metrics.RetriesKey, "Keys that were added with a delay or a rate limit"),
	}
}

func (c *collectors) all() []prometheus.Collector {
	return []prometheus.Collector{c.depth, c.adds, c.latency, c.work, c.unfinished, c.longest, c.retries}
}

// Describe implements prometheus.Collector.
func (c *collectors) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.all() {
		m.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (c *collectors) Collect(ch chan<- prometheus.Metric) {
	for _, m := range c.all() {
		m.Collect(ch)
	}
}

type provider struct{ *collectors }

var _ PriorityMetricsProvider = provider{}

// NewDepthMetric counts every due key as one of priority 0: a queue that asks for it has no priorities.
func (p provider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return p.depth.WithLabelValues(name, name, "0")
}

func (p provider) NewAddsMetric(name string) workqueue.CounterMetric {
	return p.adds.WithLabelValues(name, name)
}

func (p provider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return p.latency.WithLabelValues(name, name)
}

func (p provider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.work.WithLabelValues(name, name)
}

func (p provider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.unfinished.WithLabelValues(name, name)
}

func (p provider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.longest.WithLabelValues(name, name)
}

func (p provider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.retries.WithLabelValues(name, name)
}

// NewDepthMetricWithPriority implements PriorityMetricsProvider.
func (p provider) NewDepthMetricWithPriority(name string) PriorityDepthMetric {
	return &depthGauges{vec: p.depth, name: name, known: map[int]prometheus.Gauge{}}
}

// keptGauges is how many priorities a queue remembers the gauges of, so as not to look them up by their labels.
const keptGauges = 64

// depthGauges is one queue's depth by priority. The queue's lock guards it.
type depthGauges struct {
	vec   *prometheus.GaugeVec
	name  string
	known map[int]prometheus.Gauge

	// The one that was asked for last: most keys have the priority of the key before.
	last  prometheus.Gauge
	lastP int
}

func (d *depthGauges) Inc(priority int) { d.of(priority).Inc() }
func (d *depthGauges) Dec(priority int) { d.of(priority).Dec() }

func (d *depthGauges) of(priority int) prometheus.Gauge {
	if d.last != nil && d.lastP == priority {
		return d.last
	}
	g := d.known[priority]
	if g == nil {
		g = d.vec.WithLabelValues(d.name, d.name, strconv.Itoa(priority))
		if len(d.known) >= keptGauges {
			clear(d.known)
		}
		d.known[priority] = g
	}
	d.last, d.lastP = g, priority
	return g
}
