package cache

import "net/http"

// withOwnPauses returns a client of the same connections whose requests client-go does not repeat by itself.
//
// An API server puts off the first watch of a resource that was just defined with 429 and a Retry-After of a whole second,
// the least that the header can say, though it is ready some milliseconds later. A feed has pauses of its own, which begin
// short and double.
func withOwnPauses(c *http.Client) *http.Client {
	own := *c
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	own.Transport = ownPauses{own.Transport}
	return &own
}

// ownPauses drops the header that makes client-go wait and ask again.
type ownPauses struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t ownPauses) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		resp.Header.Del("Retry-After")
	}
	return resp, err
}
