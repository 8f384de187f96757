package kubeconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Name is the name of the cluster, the user and the context that Write makes.
const Name = "operon"

// Entry is what a client needs to reach the cluster as its administrator. Certificates and keys are PEM encoded.
type Entry struct {
	Server                string
	CACert                []byte
	ClientCert, ClientKey []byte
}

// Undo is what Remove needs to leave the file as Write found it.
type Undo struct {
	path     string
	entry    Entry
	existed  bool
	previous string
}

// Check says whether Write could write to path, without leaving a trace.
func Check(path string) error {
	if _, _, err := load(path); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	probe, err := os.CreateTemp(dir, ".operon-kubeconfig-")
	if err != nil {
		return fmt.Errorf("kubeconfig %s cannot be written (%w): choose another --kubeconfig", path, reason(err))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// Write puts the entry into the file at path.
func Write(path string, entry Entry) (*Undo, error) {
	config, existed, err := load(path)
	if err != nil {
		return nil, err
	}
	undo := &Undo{path: path, entry: entry, existed: existed, previous: config.CurrentContext}
	config.Clusters[Name] = &api.Cluster{Server: entry.Server, CertificateAuthorityData: entry.CACert}
	config.AuthInfos[Name] = &api.AuthInfo{ClientCertificateData: entry.ClientCert, ClientKeyData: entry.ClientKey}
	config.Contexts[Name] = &api.Context{Cluster: Name, AuthInfo: Name, Namespace: "default"}
	config.CurrentContext = Name
	return undo, save(path, config)
}

// Remove takes the entry out of the file; a file that Write created, and that nobody added to, is deleted. An entry that another
// cluster has put in its place since then is that cluster's, and stays.
func (u *Undo) Remove() error {
	config, existed, err := load(u.path)
	if err != nil || !existed || !u.ours(config) {
		return err
	}
	delete(config.Clusters, Name)
	delete(config.AuthInfos, Name)
	delete(config.Contexts, Name)
	if !u.existed && len(config.Clusters)+len(config.AuthInfos)+len(config.Contexts) == 0 {
		return os.Remove(u.path)
	}
	if config.CurrentContext == Name {
		config.CurrentContext = ""
		if _, ok := config.Contexts[u.previous]; ok {
			config.CurrentContext = u.previous
		}
	}
	return save(u.path, config)
}

func (u *Undo) ours(config *api.Config) bool {
	cluster := config.Clusters[Name]
	return cluster == nil || cluster.Server == u.entry.Server && bytes.Equal(cluster.CertificateAuthorityData, u.entry.CACert)
}

func load(path string) (*api.Config, bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return api.NewConfig(), false, nil
	}
	if err == nil && info.IsDir() {
		return nil, false, fmt.Errorf("kubeconfig %s is a directory: name a file with --kubeconfig", path)
	}
	if err != nil {
		return nil, false, fmt.Errorf("kubeconfig %s cannot be read (%w): choose another --kubeconfig", path, reason(err))
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, false, fmt.Errorf("kubeconfig %s exists and is not a kubeconfig: choose another --kubeconfig", path)
	}
	if info.Size() > 0 && len(config.Clusters)+len(config.Contexts)+len(config.AuthInfos) == 0 && config.CurrentContext == "" && config.Kind == "" && config.APIVersion == "" {
		// Any YAML mapping decodes; one without a trace of a kubeconfig is somebody's other file.
		raw, readErr := os.ReadFile(path)
		if readErr != nil || !looksEmpty(raw) {
			return nil, false, fmt.Errorf("kubeconfig %s exists and is not a kubeconfig: choose another --kubeconfig", path)
		}
	}
	if cluster, ok := config.Clusters[Name]; ok && !loopback(cluster.Server) {
		return nil, false, fmt.Errorf("kubeconfig %s already has a cluster named %q at %s: rename it, or choose another --kubeconfig", path, Name, cluster.Server)
	}
	return config, true, nil
}

func loopback(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// save replaces the file in one step, so that no reader sees half of it.
func save(path string, config *api.Config) error {
	// A symbolic link is followed, so that the file it names is the one that changes.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".operon-kubeconfig-")
	if err != nil {
		return fmt.Errorf("kubeconfig %s cannot be written (%w): choose another --kubeconfig", path, reason(err))
	}
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Close()); err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("kubeconfig %s cannot be written (%w): choose another --kubeconfig", path, reason(err))
	}
	return nil
}

func looksEmpty(raw []byte) bool {
	for _, b := range raw {
		switch b {
		case ' ', '\t', '\n', '\r', '{', '}':
		default:
			return false
		}
	}
	return true
}

func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
