package controller

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/reconcile"
)

// BenchmarkNoopReconcile is what a controller adds to a reconciliation that does nothing: queue, logger,
// record and metrics included.
func BenchmarkNoopReconcile(b *testing.B) {
	b.Run("nobody listens", func(b *testing.B) { noopReconcile(b, nil) })
	b.Run("OnReconciled", func(b *testing.B) { noopReconcile(b, func(reconcile.Record) {}) })
}

func noopReconcile(b *testing.B, listener func(reconcile.Record)) {
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(discard{}), zap.InfoLevel)
	done := make(chan struct{}, 1000)
	c, err := newController("bench", nil, Options{
		Logger:       zapr.NewLogger(zap.New(core)),
		OnReconciled: listener,
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			done <- struct{}{}
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer c.releaseName()
	q := c.options.NewQueue(c.name, c.options.RateLimiter)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.work(b.Context(), queueForWorkers(q), new(desk))
	}()
	requests := make([]reconcile.Request, 100)
	for i := range requests {
		requests[i].NamespacedName = types.NamespacedName{Namespace: "namespace", Name: fmt.Sprint("name-", i)}
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range requests {
			q.Add(r)
		}
		for range requests {
			<-done
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(requests)), "ns/reconcile")
	q.ShutDown()
	<-ended
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
