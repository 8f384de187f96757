// Package config carries the manifests that a program needs to try the operator out.
package config

import _ "embed"

// CRD is the CustomResourceDefinition of Memcached, in YAML.
//
//go:embed crd/bases/cache.example.com_memcacheds.yaml
var CRD []byte

// Sample is a Memcached to start with, in YAML.
//
//go:embed samples/cache_v1alpha1_memcached.yaml
var Sample []byte
