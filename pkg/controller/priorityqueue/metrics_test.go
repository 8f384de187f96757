package priorityqueue

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/util/workqueue"
)

// gather returns the values of a registry's metrics; of histograms, the sum.
func gather(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			got[family.GetName()+priorityOf(m)] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum()
		}
	}
	return got
}

func priorityOf(m *dto.Metric) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == "priority" {
			return " " + l.GetValue()
		}
	}
	return ""
}

func TestMetricsTellDepthByPriorityAndHowLongThingsTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		q := New("frogs", func(o *Opts[string]) { o.MetricProvider = NewMetricsProvider(reg) })
		defer q.ShutDown()
		q.AddWithOpts(at(-100), "low", "raised")
		q.Add("raised")
		q.AddWithOpts(at(7), "high")
		q.AddAfter("delayed", time.Hour)
		time.Sleep(time.Second)
		q.Get()
		q.AddWithOpts(at(1), "high")
		q.AddWithOpts(at(2), "high")
		time.Sleep(1200 * time.Millisecond)
		synctest.Wait()
		want := map[string]float64{
			"workqueue_depth -100":                        1,
			"workqueue_depth 0":                           1,
			"workqueue_depth 1":                           0,
			"workqueue_depth 2":                           1,
			"workqueue_depth 7":                           0,
			"workqueue_adds_total":                        4,
			"workqueue_retries_total":                     1,
			"workqueue_queue_duration_seconds":            1,
			"workqueue_work_duration_seconds":             0,
			"workqueue_unfinished_work_seconds":           1,
			"workqueue_longest_running_processor_seconds": 1,
		}
		if diff := cmp.Diff(want, gather(t, reg)); diff != "" {
			t.Errorf("while one is at work (-want +got):\n%s", diff)
		}

		q.Done("high")
		time.Sleep(time.Second)
		synctest.Wait()
		got := gather(t, reg)
		for name, want := range map[string]float64{
			"workqueue_work_duration_seconds": 1.2, "workqueue_unfinished_work_seconds": 0, "workqueue_longest_running_processor_seconds": 0,
		} {
			if got[name] != want {
				t.Errorf("afterwards %s = %v, want %v", name, got[name], want)
			}
		}
	})
}

func TestQueuesOfOneRegistryShareItsMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	for range 2 {
		q := New("frogs", func(o *Opts[string]) { o.MetricProvider = NewMetricsProvider(reg) })
		q.Add("a")
		q.ShutDown()
	}
	NewMetricsProvider(reg).NewAddsMetric("frogs").Inc()
	if got := gather(t, reg)["workqueue_adds_total"]; got != 3 {
		t.Errorf("workqueue_adds_total = %v, want 3", got)
	}
}

func TestMetricsOfSomebodyElseStay(t *testing.T) {
	reg := prometheus.NewRegistry()
	theirs := prometheus.NewGauge(prometheus.GaugeOpts{Name: "workqueue_depth"})
	reg.MustRegister(theirs)
	theirs.Set(42)
	q := New("frogs", func(o *Opts[string]) { o.MetricProvider = NewMetricsProvider(reg) })
	defer q.ShutDown()
	q.Add("a")
	if diff := cmp.Diff(map[string]float64{"workqueue_depth": 42}, gather(t, reg)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// flat is a provider that knows nothing of priorities.
type flat struct{ workqueue.MetricsProvider }

func (f flat) NewDepthMetric(name string) workqueue.GaugeMetric {
	return f.MetricsProvider.NewDepthMetric(name)
}

func TestProviderWithoutPrioritiesCountsAllTogether(t *testing.T) {
	reg := prometheus.NewRegistry()
	q := New("frogs", func(o *Opts[string]) { o.MetricProvider = flat{NewMetricsProvider(reg)} })
	defer q.ShutDown()
	q.AddWithOpts(at(3), "a", "b")
	q.Get()
	if got := gather(t, reg)["workqueue_depth 0"]; got != 1 {
		t.Errorf("depth %v, want 1", got)
	}
}

// layered is a provider of a program's own that tells priorities apart.
type layered struct {
	workqueue.MetricsProvider
	depth map[int]int
}

func (l layered) NewDepthMetricWithPriority(string) PriorityDepthMetric { return l }
func (l layered) Inc(priority int)                                      { l.depth[priority]++ }
func (l layered) Dec(priority int)                                      { l.depth[priority]-- }

func TestProviderOfOnesOwnIsToldTheDepthOfEachPriority(t *testing.T) {
	own := layered{NewMetricsProvider(prometheus.NewRegistry()), map[int]int{}}
	q := New("frogs", func(o *Opts[string]) { o.MetricProvider = own })
	defer q.ShutDown()
	q.AddWithOpts(at(-100), "a", "b")
	q.AddWithOpts(at(5), "b", "c")
	q.Get()
	if diff := cmp.Diff(map[int]int{-100: 1, 5: 1}, own.depth); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
