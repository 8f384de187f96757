package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/operon-dev/operon/pkg/internal/testing/process"
)

// decidedTogether are flags of the API server that the operon command decides by itself.
var decidedTogether = map[string]bool{
	"advertise-address": true, "bind-address": true, "secure-port": true, "external-hostname": true, "endpoint-reconciler-type": true,
	"cert-dir": true, "tls-cert-file": true, "tls-private-key-file": true, "client-ca-file": true,
	"service-account-issuer": true, "service-account-key-file": true, "service-account-signing-key-file": true, "service-cluster-ip-range": true,
	"etcd-servers": true, "etcd-cafile": true, "etcd-certfile": true, "etcd-keyfile": true, "etcd-prefix": true,
	"egress-selector-config-file": true, "tracing-config-file": true,
}

// together is a control plane in one process of the operon command: our own child, or one that is lent to us.
type together struct {
	link  link
	admin *rest.Config
	// dir holds the control plane's state and goes with it.
	dir string
	mu  sync.Mutex
}

// link is how a control plane is given orders: one line each, answered with a line.
type link interface {
	send(order string) error
	answers() <-chan string
	// close gives the control plane back, or ends it.
	close(timeout time.Duration) error
}

// arguments are those of "operon cluster".
func (o Options) arguments(s *APIServer) []string {
	args := []string{"--nodes=" + strconv.Itoa(o.Nodes), "--api-only=" + strconv.FormatBool(!o.Controllers && o.Nodes == 0)}
	if o.Output != nil {
		args = append(args, "-v=2")
	}
	if s == nil {
		return args
	}
	if s.Port != "" && s.Port != "0" {
		args = append(args, "--port="+s.Port)
	} else if s.SecurePort != 0 {
		args = append(args, "--port="+strconv.Itoa(s.SecurePort))
	}
	if s.args == nil {
		return args
	}
	defaults := map[string][]string{"allow-privileged": {"true"}, "authorization-mode": {"Node", "RBAC"}}
	const disable = "disable-admission-plugins"
	if !o.Controllers && o.Nodes == 0 {
		defaults[disable] = []string{"ServiceAccount"}
	}
	for _, name := range s.args.Names() {
		values := s.args.Get(name).Get(defaults[name])
		switch {
		case values == nil && name == disable:
			args = append(args, "--kube-apiserver-arg="+name+"=")
		case values != nil && len(values) == 0:
			args = append(args, "--kube-apiserver-arg="+name)
		}
		for _, value := range values {
			args = append(args, "--kube-apiserver-arg="+name+"="+value)
		}
	}
	return args
}

// child is a control plane that lives and dies with this process.
type child struct{ process *process.Process }

func (c child) send(order string) error { return c.process.Send(order + "\n") }

func (c child) answers() <-chan string { return c.process.Lines() }

func (c child) close(timeout time.Duration) error { return c.process.Stop(process.CloseStdin, timeout) }

var readyLine = regexp.MustCompile(`^ready in .*; kubeconfig (.+); use it with: `)

// startChild starts a control plane of our own.
func startChild(ctx context.Context, binary string, args []string, o Options) (*together, error) {
	kubeconfig := ""
	p, err := process.Start(ctx, process.Command{
		Name: "operon", Path: binary, Args: append([]string{"cluster", "--stop-on-stdin-eof"}, args...), Stderr: o.Output,
		Ready: func(ctx context.Context, lines <-chan string) error {
			for {
				select {
				case line, more := <-lines:
					if !more {
						return process.ErrOutputEnded
					}
					if found := readyLine.FindStringSubmatch(line); found != nil {
						kubeconfig = found[1]
						return nil
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		},
	})
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("control plane of %s, which ControlPlaneStartTimeout gives %s: %w", binary, orDefault(o.StartTimeout), err)
		}
		return nil, fmt.Errorf("control plane of %s: %w", binary, err)
	}
	t := &together{link: child{p}, dir: filepath.Dir(kubeconfig)}
	if t.admin, err = loadAdmin(kubeconfig); err != nil {
		return nil, errors.Join(err, t.link.close(o.stopTimeout()))
	}
	return t, nil
}

func loadAdmin(kubeconfig string) (*rest.Config, error) {
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the control plane: %w", err)
	}
	cfg, err := clientcmd.BuildConfigFromKubeconfigGetter("", func() (*clientcmdapi.Config, error) {
		return clientcmd.Load(content)
	})
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the control plane: %w", err)
	}
	return cfg, nil
}

// order gives an order and returns what the answer says after repeating it.
func (t *together) order(ctx context.Context, order string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.link.send(order); err != nil {
		return "", err
	}
	verb, _, _ := strings.Cut(order, " ")
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case line, more := <-t.link.answers():
			if !more {
				return "", errors.New("the control plane has ended")
			}
			if text, failed := strings.CutPrefix(line, "error: "); failed {
				return "", errors.New(text)
			}
			if text, answered := strings.CutPrefix(line, verb+" "); answered {
				return text, nil
			}
		}
	}
}

// user has the control plane issue a client certificate.
func (t *together) user(ctx context.Context, user User, base *rest.Config) (*rest.Config, error) {
	request, err := json.Marshal(struct {
		Name   string   `json:"name"`
		Groups []string `json:"groups,omitempty"`
	}{user.Name, user.Groups})
	if err != nil {
		return nil, err
	}
	answer, err := t.order(ctx, "sign "+string(request))
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", user.Name, err)
	}
	var issued struct{ Cert, Key string }
	if err := json.Unmarshal([]byte(answer), &issued); err != nil {
		return nil, fmt.Errorf("user %s: %w", user.Name, err)
	}
	cfg := t.reach(base)
	cfg.CertData, cfg.KeyData = []byte(issued.Cert), []byte(issued.Key)
	return cfg, nil
}

// reach returns a copy of base that finds the API server and trusts it. Its Host is like that of APIServer.reach.
func (t *together) reach(base *rest.Config) *rest.Config {
	cfg := &rest.Config{}
	if base != nil {
		cfg = rest.CopyConfig(base)
	}
	cfg.Host = strings.TrimSuffix(t.admin.Host, "/") + "/"
	cfg.CAData, cfg.CAFile = t.admin.CAData, ""
	return cfg
}
