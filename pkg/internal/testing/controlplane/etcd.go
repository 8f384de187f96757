package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/operon-dev/operon/pkg/internal/testing/process"
)

// EtcdDefaultArgs are the arguments of an Etcd whose Args are not set, as templates.
//
// Deprecated: use Configure.
var EtcdDefaultArgs = []string{
	"--listen-peer-urls=http://localhost:0",
	"--advertise-client-urls={{ if .URL }}{{ .URL.String }}{{ end }}",
	"--listen-client-urls={{ if .URL }}{{ .URL.String }}{{ end }}",
	"--data-dir={{ .DataDir }}",
}

// Etcd is an etcd that runs as a program of its own. The zero value chooses
// everything by itself.
type Etcd struct {
	// URL is where etcd listens for clients. Start fills in a free port of
	// 127.0.0.1 where it is nil.
	URL *url.URL
	// Path is the etcd binary. Empty means the one that is found through
	// TEST_ASSET_ETCD, KUBEBUILDER_ASSETS or the environment's
	// BinaryAssetsDirectory, and the operon command otherwise.
	Path string
	// Args are arguments as templates over the fields of Etcd, added to those of Configure.
	//
	// Deprecated: use Configure.
	Args []string
	// DataDir is where etcd keeps its state. Empty means a temporary directory that Stop removes.
	DataDir string
	// StartTimeout and StopTimeout bound how long etcd may take. Zero means 20 s.
	StartTimeout, StopTimeout time.Duration
	// Out and Err receive what etcd writes. Nil drops it.
	Out, Err io.Writer

	args    *process.Arguments
	assets  string
	scratch scratch
	program *process.Process
}

// Configure returns the flags with which etcd is started, to be changed before Start.
func (e *Etcd) Configure() *process.Arguments {
	if e.args == nil {
		e.args = process.EmptyArguments()
	}
	return e.args
}

// touched says whether anything about this etcd was asked for.
func (e *Etcd) touched() bool {
	return e != nil && (e.URL != nil || e.Path != "" || len(e.Args) > 0 || e.DataDir != "" || e.Out != nil || e.Err != nil ||
		e.args != nil && len(e.args.Names()) > 0)
}

// Start starts etcd and returns when it serves.
func (e *Etcd) Start() (err error) {
	if e.program != nil {
		return errors.New("etcd is already started")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.scratch.remove())
		}
	}()
	binary, err := findProgram("etcd", e.Path, e.assets)
	if err != nil {
		return err
	}
	if e.URL == nil {
		var addr process.ListenAddr
		if err := addr.Complete(); err != nil {
			return fmt.Errorf("port for etcd: %w", err)
		}
		e.URL = addr.URL("http", "")
	}
	dataDir := e.DataDir
	if dataDir == "" {
		if dataDir, err = e.scratch.path(); err != nil {
			return err
		}
	}
	rest, err := e.Configure().AddTemplates(e.Args, struct {
		*Etcd
		DataDir string
	}{e, dataDir})
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	args := e.args.AsStrings(map[string][]string{
		"listen-peer-urls":      {"http://localhost:0"},
		"listen-client-urls":    {e.URL.String()},
		"advertise-client-urls": {e.URL.String()},
		"data-dir":              {dataDir},
		"unsafe-no-fsync":       {"true"},
		// A member that is alone elects itself when this has passed.
		"heartbeat-interval": {"10"},
		"election-timeout":   {"100"},
	})
	ctx, cancel := context.WithTimeout(context.Background(), orDefault(e.StartTimeout))
	defer cancel()
	e.program, err = process.Start(ctx, process.Command{
		Name: binary.name, Path: binary.path, Args: append(args, rest...), Stdout: e.Out, Stderr: e.Err,
		Ready: func(ctx context.Context, lines <-chan string) error {
			return awaitOK(ctx, lines, http.DefaultClient, e.URL.JoinPath("health").String())
		},
	})
	return err
}

// Stop ends etcd and removes its temporary files. Stopping what does not run does nothing.
func (e *Etcd) Stop() error {
	if e.program == nil {
		return nil
	}
	err := e.program.Stop(process.Interrupt, orDefault(e.StopTimeout))
	e.program = nil
	return errors.Join(err, e.scratch.remove())
}

const (
	defaultTimeout = 20 * time.Second
	healthPause    = 10 * time.Millisecond
)

func orDefault(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return defaultTimeout
	}
	return timeout
}

// awaitOK asks until the address answers with 200. lines say when there is nobody left to answer.
func awaitOK(ctx context.Context, lines <-chan string, client *http.Client, address string) error {
	for {
		if ok(ctx, client, address) {
			return nil
		}
		pause := time.NewTimer(healthPause)
	waiting:
		for {
			select {
			case <-ctx.Done():
				pause.Stop()
				return ctx.Err()
			case _, more := <-lines:
				if !more {
					pause.Stop()
					return process.ErrOutputEnded
				}
			case <-pause.C:
				break waiting
			}
		}
	}
}

func ok(ctx context.Context, client *http.Client, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	// A connection that is kept would hold up the program's end.
	request.Close = true
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}
