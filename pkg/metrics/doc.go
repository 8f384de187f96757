// Package metrics holds the Prometheus registry of the library's metrics and
// connects the metrics of client-go to it.
//
// [Registry] is what a manager's metrics server exposes. Register metrics of
// an operator's own there. It starts out with the metrics of the Go runtime and of the
// process, and rest_client_requests_total; a manager adds those of leader election
// (leader_election_master_status and leader_election_slowpath_total), which
// count the managers' elections and not those of client-go's own electors.
// [RegisterRESTClientMetrics] adds more about the requests to API servers.
//
// client-go has one place for such metrics in a process, and this package
// takes it when it is initialised: client-go reads that place without a lock,
// so it must not change once requests are made.
package metrics
