package nodes

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Networks are those of the nodes and their pods: nothing listens at any address in them.
func Networks() []netip.Prefix { return []netip.Prefix{hostRange, podRange} }

// Kubelet answers the API server in the place of all nodes' kubelets, over connections that do not leave the process. It knows nothing of
// pods: a container's log is one line that says that the container is simulated, and whatever else is asked of it gets an answer that says why it cannot be had.
type Kubelet struct {
	certificate tls.Certificate
	calls       chan net.Conn
	ended       chan struct{}
	end         sync.Once
}

// NewKubelet returns a Kubelet that shows the certificate, which the API server does not check unless it is told to.
func NewKubelet(certificate tls.Certificate) *Kubelet {
	return &Kubelet{certificate: certificate, calls: make(chan net.Conn), ended: make(chan struct{})}
}

// Dial connects to the kubelet, whatever the address. It is for API servers, and waits for Run.
func (k *Kubelet) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	theirs, ours := net.Pipe()
	var err error
	select {
	case k.calls <- ours:
		return theirs, nil
	case <-k.ended:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: err}
}

// Run answers until the context ends. It is called once.
func (k *Kubelet) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:   kubeletAnswers(),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{k.certificate}},
		// HTTP/1.1 alone, of which the protocols of exec and port-forward are upgrades.
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ReadHeaderTimeout: time.Minute,
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	err := server.ServeTLS((*switchboard)(k), "", "")
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// switchboard is the listener at the other end of Dial.
type switchboard Kubelet

func (s *switchboard) Accept() (net.Conn, error) {
	select {
	case conn := <-s.calls:
		return conn, nil
	case <-s.ended:
		return nil, net.ErrClosed
	}
}

func (s *switchboard) Close() error {
	s.end.Do(func() { close(s.ended) })
	return nil
}

func (s *switchboard) Addr() net.Addr { return &net.UnixAddr{Name: "kubelet", Net: "pipe"} }

// kubeletAnswers are those to the API server's requests, at the paths of a kubelet.
func kubeletAnswers() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", tellLog)
	for path, what := range map[string]string{
		"/exec/":        "no command can be executed in it",
		"/attach/":      "there is nothing to attach to",
		"/portForward/": "nothing listens on its ports",
	} {
		m.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, fmt.Sprintf("%s is simulated and runs no program: %s", subject(r.URL.Path), what), http.StatusBadRequest)
		})
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		json.NewEncoder(w).Encode(&metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Message: "nodes are simulated, and have no kubelet that would answer at " + r.URL.Path,
		})
	})
	return m
}

// subject names what a path of the form /verb/namespace/pod/... is about.
func subject(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 4 {
		return "a pod"
	}
	return "pod " + parts[2] + "/" + parts[3]
}

// tellLog writes the log that every container has. It ends at once also for those who follow it, because nothing more will come.
func tellLog(w http.ResponseWriter, r *http.Request) {
	container, query := r.PathValue("container"), r.URL.Query()
	if query.Get("previous") == "true" {
		http.Error(w, fmt.Sprintf("%s is simulated and runs no program: container %q left no log behind", subject(r.URL.Path), container), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	if query.Get("tailLines") == "0" {
		return
	}
	if query.Get("timestamps") == "true" {
		fmt.Fprint(w, time.Now().Format(time.RFC3339Nano), " ")
	}
	fmt.Fprintf(w, "%s is simulated: container %q runs no program, and this line is all of its log\n", subject(r.URL.Path), container)
}
