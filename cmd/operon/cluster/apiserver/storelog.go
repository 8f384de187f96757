package apiserver

import (
	_ "unsafe" // for go:linkname

	"go.uber.org/zap"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // owner of etcd3ClientLogger
)

// etcd3ClientLogger writes warnings to standard error, whatever klog is told, each time a request is given up because its caller left.
//
//go:linkname etcd3ClientLogger k8s.io/apiserver/pkg/storage/storagebackend/factory.etcd3ClientLogger
var etcd3ClientLogger *zap.Logger

// SetStoreLogger gives the store's clients, of all servers in the process, their logger. It is to be called before the first New.
func SetStoreLogger(logger *zap.Logger) { etcd3ClientLogger = logger }
