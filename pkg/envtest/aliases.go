package envtest

import (
	"github.com/operon-dev/operon/pkg/internal/testing/controlplane"
	"github.com/operon-dev/operon/pkg/internal/testing/process"
)

// ControlPlane is an API server and its store. It runs as one process of the
// operon command, unless something was asked for that only an etcd and a
// kube-apiserver of their own can do.
type ControlPlane = controlplane.ControlPlane

// APIServer says how the API server is to be. Configure returns its flags.
type APIServer = controlplane.APIServer

// Etcd says how the store is to be. One that asks for anything runs as a program of its own.
type Etcd = controlplane.Etcd

// SecureServing says where the API server listens, and how it knows its users.
type SecureServing = controlplane.SecureServing

// Authn is a way in which an API server knows its users.
type Authn = controlplane.Authn

// User is a user of Kubernetes: a name, and groups.
type User = controlplane.User

// AuthenticatedUser is a user whom the API server accepts, and what it takes to be that user.
type AuthenticatedUser = controlplane.AuthenticatedUser

// ListenAddr is an address and a port to listen on.
type ListenAddr = process.ListenAddr

// Arguments are flags by name, each with its values.
type Arguments = process.Arguments

// Arg is one flag.
type Arg = process.Arg

// EmptyArguments returns Arguments in which nothing is set.
var EmptyArguments = process.EmptyArguments

// DefaultKubeAPIServerFlags are arguments of an API server, as templates, for APIServer.Args.
//
// Deprecated: use APIServer.Configure.
//
//lint:ignore SA1019 the name is promised
var DefaultKubeAPIServerFlags = controlplane.APIServerDefaultArgs
