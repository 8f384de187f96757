package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"
)

func registerLeaderMetrics() {
	m := leaderMetrics{
		status: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "leader_election_master_status",
			Help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. " +
				"'name' is the string used to identify the lease. Please make sure to group by name.",
		}, []string{"name"}),
		slowPath: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leader_election_slowpath_total",
			Help: "Total number of slow path exercised in renewing leader leases. " +
				"'name' is the string used to identify the lease. Please make sure to group by name.",
		}, []string{"name"}),
	}
	Registry.MustRegister(m.status, m.slowPath)
	leaderelection.SetProvider(m)
}

// leaderMetrics count for all elections; each has its own name.
type leaderMetrics struct {
	status   *prometheus.GaugeVec
	slowPath *prometheus.CounterVec
}

// NewLeaderMetric implements leaderelection.MetricsProvider.
func (m leaderMetrics) NewLeaderMetric() leaderelection.LeaderMetric { return m }

// On implements leaderelection.LeaderMetric.
func (m leaderMetrics) On(name string) { m.status.WithLabelValues(name).Set(1) }

// Off implements leaderelection.LeaderMetric.
func (m leaderMetrics) Off(name string) { m.status.WithLabelValues(name).Set(0) }

// SlowpathExercised implements leaderelection.LeaderMetric.
func (m leaderMetrics) SlowpathExercised(name string) { m.slowPath.WithLabelValues(name).Inc() }
