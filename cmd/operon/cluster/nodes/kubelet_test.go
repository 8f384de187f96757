package nodes_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/cluster/nodes"
	"github.com/operon-dev/operon/cmd/operon/cluster/pki"
)

func TestWhatASimulatedPodCannotDoIsOneSentence(t *testing.T) {
	c, ns := start(t)
	c.kubectl(t, ns, "run", "web", "--image=web:1", "--expose", "--port=80")
	c.kubectl(t, ns, "wait", "pod/web", "--for=condition=Ready", "--timeout=60s")
	proxy := "/api/v1/namespaces/" + ns
	for _, step := range []struct {
		args string
		fine bool
		want string
	}{
		{"logs web", true, `is simulated: container "web" runs no program, and this line is all of its log`},
		{"logs web --follow", true, `runs no program, and this line is all of its log`},
		{"logs web --previous", false, `container "web" left no log behind`},
		{"exec web -- ls", false, "runs no program: no command can be executed in it"},
		{"attach web", false, "runs no program: there is nothing to attach to"},
		{"port-forward web :80", false, "runs no program: nothing listens on its ports"},
		{"get --raw /api/v1/nodes/operon-node-0/proxy/stats/summary", false, "no kubelet that would answer at /stats/summary"},
		{"get --raw " + proxy + "/pods/web:80/proxy/", false, "nothing listens at the addresses of pods and services"},
		{"get --raw " + proxy + "/services/web:80/proxy/", false, "nothing listens at the addresses of pods and services"},
	} {
		t.Run(step.args, func(t *testing.T) {
			t.Parallel()
			out, err := c.tryKubectl(t, ns, strings.Fields(step.args)...)
			if (err == nil) != step.fine {
				t.Errorf("error is %v", err)
			}
			if strings.Count(out, step.want) != 1 {
				t.Errorf("printed %s\nwant once %s", out, step.want)
			}
		})
	}
}

func TestKubeletTellsALogAsAsked(t *testing.T) {
	get := kubelet(t)
	for query, want := range map[string]string{
		"":                 `^pod default/p is simulated: container "c" runs`,
		"?timestamps=true": `^\d{4}-\S+T\S+ pod default/p is simulated`,
		"?tailLines=0":     `^$`,
	} {
		status, body := get("/containerLogs/default/p/c" + query)
		if status != http.StatusOK || !regexp.MustCompile(want).MatchString(body) {
			t.Errorf("%s: %d %q, want %s", query, status, body, want)
		}
	}
	if status, _ := get("/pods"); status != http.StatusNotFound {
		t.Errorf("/pods: %d", status)
	}
}

func TestKubeletThatEndedIsNotWaitedFor(t *testing.T) {
	k := nodes.NewKubelet(certificate(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Run(ctx); err != nil {
		t.Error(err)
	}
	if _, err := k.Dial(t.Context(), "tcp", "operon-node-0:10250"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial: %v", err)
	}
}

// kubelet runs one, and returns what asks it.
func kubelet(t *testing.T) func(path string) (int, string) {
	k := nodes.NewKubelet(certificate(t))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	transport := &http.Transport{DialContext: k.Dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	return func(path string) (int, string) {
		t.Helper()
		r, err := (&http.Client{Transport: transport}).Get("https://operon-node-0:10250" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(body)
	}
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	keys, err := pki.Ensure(t.TempDir()+"/pki", []string{"localhost"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tls.X509KeyPair(keys.ServingCert, keys.ServingKey)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
