package controlplane

import (
	"errors"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ErrNotStarted says that a control plane does not run yet.
var ErrNotStarted = errors.New("the control plane is not started: start it first")

// User is a user of Kubernetes.
type User struct {
	// Name is the user's name.
	Name string
	// Groups are those to which the user belongs. "system:masters" may do anything.
	Groups []string
}

// AuthenticatedUser is a user that the API server accepts. Its methods can be
// used when the control plane has been started, and panic before.
type AuthenticatedUser struct {
	plane *ControlPlane
	user  User
	base  *rest.Config
	// cfg is nil until the control plane is started.
	cfg *rest.Config
}

// Config returns the configuration with which a client is this user. Panics before the control plane is started.
func (u *AuthenticatedUser) Config() *rest.Config {
	if u.cfg == nil {
		panic(ErrNotStarted)
	}
	return u.cfg
}

// KubeConfig returns a kubeconfig file with which other programs are this user. Panics before the control plane is started.
func (u AuthenticatedUser) KubeConfig() ([]byte, error) {
	return KubeConfigFromREST(u.Config())
}

// Kubectl returns a KubeCtl that is this user. Its kubeconfig goes when the
// control plane stops. Panics before the control plane is started.
func (u *AuthenticatedUser) Kubectl() (*KubeCtl, error) {
	kubeconfig, err := u.KubeConfig()
	if err != nil {
		return nil, err
	}
	dir, err := u.plane.TempDir()
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, "*.kubeconfig")
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(kubeconfig); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	path, err := u.plane.kubectl()
	if err != nil {
		return nil, err
	}
	return &KubeCtl{Path: path, Opts: []string{"--kubeconfig=" + file.Name()}}, nil
}

// KubeConfigFromREST returns a kubeconfig file for a server that is known by
// its CA, and a client that is known by a certificate, a token or a password.
func KubeConfigFromREST(cfg *rest.Config) ([]byte, error) {
	const name = "envtest"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   strings.TrimSuffix(cfg.Host, "/") + cfg.APIPath,
		TLSServerName:            cfg.ServerName,
		CertificateAuthority:     cfg.CAFile,
		CertificateAuthorityData: cfg.CAData,
		InsecureSkipTLSVerify:    cfg.Insecure,
	}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificate:     cfg.CertFile,
		ClientKey:             cfg.KeyFile,
		ClientCertificateData: cfg.CertData,
		ClientKeyData:         cfg.KeyData,
		Token:                 cfg.BearerToken,
		TokenFile:             cfg.BearerTokenFile,
		Username:              cfg.Username,
		Password:              cfg.Password,
		Impersonate:           cfg.Impersonate.UserName,
		ImpersonateUID:        cfg.Impersonate.UID,
		ImpersonateGroups:     cfg.Impersonate.Groups,
		ImpersonateUserExtra:  cfg.Impersonate.Extra,
		AuthProvider:          cfg.AuthProvider,
		Exec:                  cfg.ExecProvider,
	}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	kubeconfig.CurrentContext = name
	return clientcmd.Write(*kubeconfig)
}
