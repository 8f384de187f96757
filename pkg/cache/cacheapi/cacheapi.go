// Package cacheapi names the interfaces of a cache for programs that want them without the rest: they are those of the
// packages cache and client.
package cacheapi

import (
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
)

type (
	// FieldIndexer is client.FieldIndexer.
	FieldIndexer = client.FieldIndexer
	// IndexerFunc is client.IndexerFunc.
	IndexerFunc = client.IndexerFunc
	// Informer is cache.Informer.
	Informer = cache.Informer
	// InformerGetOption is cache.InformerGetOption.
	InformerGetOption = cache.InformerGetOption
	// InformerGetOptions is cache.InformerGetOptions.
	InformerGetOptions = cache.InformerGetOptions
	// Informers is cache.Informers.
	Informers = cache.Informers
	// Object is client.Object.
	Object = client.Object
)

// BlockUntilSynced is cache.BlockUntilSynced.
func BlockUntilSynced(shouldBlock bool) InformerGetOption { return cache.BlockUntilSynced(shouldBlock) }
