package controller

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// collectors are the metrics of all controllers that report to one registry, and their names.
type collectors struct {
	names names

	reconciles *prometheus.CounterVec
	errors     *prometheus.CounterVec
	terminal   *prometheus.CounterVec
	panics     *prometheus.CounterVec
	timeouts   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	workers    *prometheus.GaugeVec
	active     *prometheus.GaugeVec
	causes     *prometheus.CounterVec
	calls      *prometheus.CounterVec
	waiting    *prometheus.GaugeVec
}

// sharedCollectors returns the collectors of reg, which it makes if there are none. Where reg has other
// metrics of the same names, those stay, and the controller's are counted but not exposed.
func sharedCollectors(reg prometheus.Registerer) *collectors {
	fresh := newCollectors()
	if err := reg.Register(fresh); err != nil {
		var already prometheus.AlreadyRegisteredError
		if errors.As(err, &already) {
			if shared, ok := already.ExistingCollector.(*collectors); ok {
				return shared
			}
		}
	}
	return fresh
}

func newCollectors() *collectors {
	const namespace = "controller_runtime"
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		opts := prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}
		return prometheus.NewCounterVec(opts, append([]string{"controller"}, labels...))
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, []string{"controller"})
	}
	return &collectors{
		reconciles: counter("reconcile_total", "Reconciliations by controller and how they ended", "result"),
		errors:     counter("reconcile_errors_total", "Reconciliations that ended with an error, by controller"),
		terminal:   counter("terminal_reconcile_errors_total", "Reconciliations that ended with an error that is not retried, by controller"),
		panics:     counter("reconcile_panics_total", "Reconciliations that panicked, by controller"),
		timeouts:   counter("reconcile_timeouts_total", "Reconciliations that outlasted the controller's time-out, by controller"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace,
			Name:      "reconcile_time_seconds",
			Help:      "How long reconciliations took, by controller, in seconds",
			Buckets: []float64{
				0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0,
				1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
			},
			NativeHistogramBucketFactor:     1.1,
			NativeHistogramMaxBucketNumber:  100,
			NativeHistogramMinResetDuration: time.Hour,
		}, []string{"controller"}),
		workers: gauge("max_concurrent_reconciles", "How many reconciliations may run at the same time, by controller"),
		active:  gauge("active_workers", "How many reconciliations are running, by controller"),
		causes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "operon_reconcile_triggers_total",
			Help: "Reconciliations by controller and what made the controller reconcile",
		}, []string{"controller", "cause"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "operon_reconcile_calls_total",
			Help: "Calls of clients that reconcilers made, by controller and verb",
		}, []string{"controller", "verb"}),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "operon_controller_sources_not_synced",
			Help: "Sources that a controller's workers wait for, by controller",
		}, []string{"controller"}),
	}
}

func (c *collectors) all() []prometheus.Collector {
	return []prometheus.Collector{c.reconciles, c.errors, c.terminal, c.panics, c.timeouts, c.seconds, c.workers, c.active, c.causes, c.calls, c.waiting}
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

// instruments are the metrics of one controller.
type instruments struct {
	outcomes [outcomes]prometheus.Counter
	errors   prometheus.Counter
	terminal prometheus.Counter
	panics   prometheus.Counter
	timeouts prometheus.Counter
	seconds  prometheus.Observer
	workers  prometheus.Gauge
	active   prometheus.Gauge
	causes   [reconcile.NumCauses]prometheus.Counter
	calls    [client.NumVerbs]prometheus.Counter
	waiting  prometheus.Gauge
}

// of returns the metrics of the controller with that name. From then on they are exposed, as zero until
// something happens.
func (c *collectors) of(controller string) *instruments {
	m := &instruments{
		errors:   c.errors.WithLabelValues(controller),
		terminal: c.terminal.WithLabelValues(controller),
		panics:   c.panics.WithLabelValues(controller),
		timeouts: c.timeouts.WithLabelValues(controller),
		seconds:  c.seconds.WithLabelValues(controller),
		workers:  c.workers.WithLabelValues(controller),
		active:   c.active.WithLabelValues(controller),
		waiting:  c.waiting.WithLabelValues(controller),
	}
	for o := range outcomes {
		m.outcomes[o] = c.reconciles.WithLabelValues(controller, o.String())
	}
	for cause := range reconcile.NumCauses {
		m.causes[cause] = c.causes.WithLabelValues(controller, cause.String())
	}
	for verb := range client.NumVerbs {
		m.calls[verb] = c.calls.WithLabelValues(controller, verb.String())
	}
	return m
}
