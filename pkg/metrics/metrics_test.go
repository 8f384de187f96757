package metrics

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// request makes one request as client-go's clients do, and returns the server's host.
func request(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Status","status":"Success"}`))
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: scheme.Codecs,
	}, Transport: &http.Transport{DisableKeepAlives: true}}
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Get().AbsPath("/x").Do(context.Background()).Error(); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(server.URL, "http://")
}

// exposed returns the names of the metrics that have a value.
func exposed(t *testing.T) map[string]bool {
	t.Helper()
	families, err := Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, family := range families {
		names[family.GetName()] = true
	}
	return names
}

func TestRequestsAreCounted(t *testing.T) {
	host := request(t)
	families, err := Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, family := range families {
		if family.GetName() != "rest_client_requests_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			if text := metric.String(); strings.Contains(text, host) {
				got = append(got, text)
			}
		}
	}
	if len(got) != 1 || !strings.Contains(got[0], `"200"`) || !strings.Contains(got[0], `"GET"`) || !strings.Contains(got[0], "value:1") {
		t.Errorf("counted for %s: %v", host, got)
	}
	if names := exposed(t); !names["go_goroutines"] {
		t.Errorf("exposed: %v", names)
	}
}

func TestMoreAboutRequestsIsMeasuredOnlyWhenAskedFor(t *testing.T) {
	all := map[string]RESTClientMetric{
		"rest_client_request_duration_seconds": MetricRequestLatency,
		"rest_client_response_size_bytes":      MetricResponseSize,
		"rest_client_request_size_bytes":       MetricRequestSize,
	}
	asked := requestLatency.enabled.Load() != nil // by an earlier run of this test
	request(t)
	for name := range all {
		if exposed(t)[name] && !asked {
			t.Errorf("%s is measured unasked", name)
		}
	}
	for name, metric := range all {
		RegisterRESTClientMetricsWithOptions(RESTClientMetricsOptions{DurationBuckets: []float64{1, 2}}, metric, metric)
		RegisterRESTClientMetrics(metric, MetricDNSResolutionLatency, MetricRateLimiterLatency, MetricRequestRetry, 99)
		request(t)
		if !exposed(t)[name] {
			t.Errorf("%s is not measured", name)
		}
	}
	families, err := Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "rest_client_request_duration_seconds" {
			continue
		}
		if n := len(family.GetMetric()[0].GetHistogram().GetBucket()); n != 2 {
			t.Errorf("%d buckets, want the 2 that were given first", n)
		}
	}
}
