package healthz

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	sick := func(*http.Request) error { return errors.New("no connection to db:5432") }
	mixed := map[string]Checker{"b-good": Ping, "a-bad": sick}
	for _, tc := range []struct {
		name   string
		checks map[string]Checker
		path   string
		status int
		body   string
	}{
		{"all well", map[string]Checker{"one": Ping, "two": Ping}, "/", 200, "ok"},
		{"no checks", nil, "/", 200, "ok"},
		{"no checks, by name", nil, "/ping", 200, "ok"},
		{"without the slash", map[string]Checker{"one": Ping}, "", 200, "ok"},
		{"verbose", map[string]Checker{"one": Ping}, "/?verbose", 200, "[+]one ok\nhealthz check passed\n"},
		{"one fails", mixed, "/", 500, "[-]a-bad failed: reason withheld\n[+]b-good ok\nhealthz check failed\n"},
		{"left out", mixed, "/?exclude=a-bad", 200, "ok"},
		{"left out, verbose", mixed, "/?verbose&exclude=a-bad", 200, "[+]a-bad excluded: ok\n[+]b-good ok\nhealthz check passed\n"},
		{"unknown left out", map[string]Checker{"one": Ping}, "/?verbose&exclude=x", 200,
			"[+]one ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nhealthz check passed\n"},
		{"several unknown left out", map[string]Checker{"one": Ping}, "/?verbose&exclude=x&exclude=y", 200,
			"[+]one ok\nwarn: some health checks cannot be excluded: no matches for \"x\",\"y\"\nhealthz check passed\n"},
		{"good by name", mixed, "/b-good", 200, "ok"},
		{"bad by name", mixed, "/a-bad", 500, "internal server error: no connection to db:5432\n"},
		{"unknown", mixed, "/none", 404, "404 page not found\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := httptest.NewRequest(http.MethodGet, "http://host/x"+tc.path, nil)
			resp := httptest.NewRecorder()
			http.StripPrefix("/x", &Handler{Checks: tc.checks}).ServeHTTP(resp, req)
			if resp.Code != tc.status || resp.Body.String() != tc.body {
				t.Errorf("got %d %q, want %d %q", resp.Code, resp.Body, tc.status, tc.body)
			}
			if got := resp.Header().Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options = %q", got)
			}
		})
	}
}

func TestChecksGetTheRequest(t *testing.T) {
	var got string
	h := CheckHandler{Checker: func(req *http.Request) error { got = req.Header.Get("X-Test"); return nil }}
	req := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(""))
	req.Header.Set("X-Test", "yes")
	h.ServeHTTP(httptest.NewRecorder(), req)
	if got != "yes" {
		t.Error("the check did not get the request")
	}
}
