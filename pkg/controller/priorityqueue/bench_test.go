package priorityqueue

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// addGetDone is what all queues have.
type addGetDone interface {
	Add(string)
	Get() (string, bool)
	Done(string)
	ShutDown()
}

func keys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace/name-%d", i)
	}
	return keys
}

// BenchmarkAddGetDone1000 adds, gets and is done with 1,000 keys an op: with this queue, with client-go's
// plain workqueue, and with its rate limiting one, each without and with metrics.
func BenchmarkAddGetDone1000(b *testing.B) {
	provider := NewMetricsProvider(prometheus.NewRegistry())
	limiter := workqueue.DefaultTypedItemBasedRateLimiter[string]()
	queues := []struct {
		name string
		make func() addGetDone
	}{
		{"priority", func() addGetDone { return New[string]("") }},
		{"plain", func() addGetDone { return workqueue.NewTyped[string]() }},
		{"ratelimiting", func() addGetDone { return workqueue.NewTypedRateLimitingQueue(limiter) }},
		{"priority+metrics", func() addGetDone {
			return New("q", func(o *Opts[string]) { o.MetricProvider = provider })
		}},
		{"plain+metrics", func() addGetDone {
			return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "q", MetricsProvider: provider})
		}},
	}
	for _, queue := range queues {
		b.Run(queue.name, func(b *testing.B) {
			keys := keys(1000)
			q := queue.make()
			defer q.ShutDown()
			b.ReportAllocs()
			for b.Loop() {
				for _, key := range keys {
					q.Add(key)
				}
				for range keys {
					key, _ := q.Get()
					q.Done(key)
				}
			}
		})
	}
}

// BenchmarkPriorities is BenchmarkAddGetDone1000 with so many different priorities.
func BenchmarkPriorities(b *testing.B) {
	for _, n := range []int{1, 2, 10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			keys := keys(1000)
			q := New[string]("")
			defer q.ShutDown()
			b.ReportAllocs()
			for b.Loop() {
				for i, key := range keys {
					priority := i % n
					q.AddWithOpts(AddOpts{Priority: &priority}, key)
				}
				for range keys {
					key, _ := q.Get()
					q.Done(key)
				}
			}
		})
	}
}

// BenchmarkDelayed1000 delays 1,000 keys and adds them again without a delay, an op.
func BenchmarkDelayed1000(b *testing.B) {
	keys := keys(1000)
	q := New[string]("")
	defer q.ShutDown()
	b.ReportAllocs()
	for b.Loop() {
		for i, key := range keys {
			q.AddAfter(key, time.Hour+time.Duration(i*7919%1000)*time.Second)
		}
		for _, key := range keys {
			q.Add(key)
		}
		for range keys {
			key, _ := q.Get()
			q.Done(key)
		}
	}
}
