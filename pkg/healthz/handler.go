package healthz

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/pkg/log"
)

// Checker tells whether something is well. Nil says that it is. The request is
// the probe's own; its context ends when the prober hangs up. A Checker may be
// called by several goroutines at once.
type Checker func(req *http.Request) error

// Ping is the check that always passes: whoever gets its answer knows that the
// process serves requests.
var Ping Checker = func(*http.Request) error { return nil }

// Handler serves named checks: all of them at its root, one of them under its
// name. It expects to be mounted with the path of its root stripped. Without
// any checks it serves Ping. Checks must not be changed once requests arrive.
type Handler struct {
	Checks map[string]Checker
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(resp http.ResponseWriter, req *http.Request) {
	checks := h.Checks
	if len(checks) == 0 {
		checks = map[string]Checker{"ping": Ping}
	}
	name := strings.TrimPrefix(path.Clean("/"+req.URL.Path), "/")
	if name == "" {
		serveAll(resp, req, checks)
		return
	}
	check, ok := checks[name]
	if !ok {
		http.NotFound(resp, req)
		return
	}
	CheckHandler{Checker: check}.ServeHTTP(resp, req)
}

// CheckHandler serves one check, and says what is wrong when it fails.
type CheckHandler struct {
	Checker
}

// ServeHTTP implements http.Handler.
func (h CheckHandler) ServeHTTP(resp http.ResponseWriter, req *http.Request) {
	if err := h.Checker(req); err != nil {
		http.Error(resp, fmt.Sprintf("internal server error: %v", err), http.StatusInternalServerError)
		return
	}
	answer(resp, "ok")
}

func serveAll(resp http.ResponseWriter, req *http.Request, checks map[string]Checker) {
	query := req.URL.Query()
	excluded := query["exclude"]
	var lines strings.Builder
	failed := false
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if slices.Contains(excluded, name) {
			fmt.Fprintf(&lines, "[+]%s excluded: ok\n", name)
			continue
		}
		if err := checks[name](req); err != nil {
			failed = true
			log.FromContext(req.Context()).WithName("healthz").Info("health check failed", "checker", name, "error", err.Error())
			fmt.Fprintf(&lines, "[-]%s failed: reason withheld\n", name)
			continue
		}
		fmt.Fprintf(&lines, "[+]%s ok\n", name)
	}
	var unknown []string
	for _, name := range excluded {
		if _, known := checks[name]; !known {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	if len(unknown) > 0 {
		fmt.Fprintf(&lines, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(unknown, ","))
	}
	if failed {
		http.Error(resp, lines.String()+"healthz check failed", http.StatusInternalServerError)
		return
	}
	if _, verbose := query["verbose"]; verbose {
		answer(resp, lines.String()+"healthz check passed\n")
		return
	}
	answer(resp, "ok")
}

func answer(resp http.ResponseWriter, text string) {
	header := resp.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	// The prober may have hung up; there is nobody left to tell.
	_, _ = resp.Write([]byte(text))
}
