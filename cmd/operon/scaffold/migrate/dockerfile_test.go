package migrate

import "testing"

func TestDockerfilesAreBuiltWithAVersionOfGoThatWillDo(t *testing.T) {
	for have, want := range map[string]string{
		"FROM golang:1.24 AS builder\n":                                  "FROM golang:1.26 AS builder\n",
		"FROM --platform=$BUILDPLATFORM golang:1.24.6-alpine AS builder": "FROM --platform=$BUILDPLATFORM golang:1.26-alpine AS builder",
		"FROM docker.io/golang:1.19":                                     "FROM docker.io/golang:1.26",
		"FROM golang:1.26.1":                                             "FROM golang:1.26.1",
		"FROM golang:1.30":                                               "FROM golang:1.30",
		"FROM golang:latest":                                             "FROM golang:latest",
		"FROM golang:1.24.2-alpine@sha256:0123456789abcdef AS builder":   "FROM golang:1.26-alpine AS builder",
		"FROM golang:1.26@sha256:0123456789abcdef":                       "FROM golang:1.26@sha256:0123456789abcdef",
		"ARG GO_VERSION=1.24.3\nFROM golang:${GO_VERSION} AS builder":    "ARG GO_VERSION=1.26\nFROM golang:${GO_VERSION} AS builder",
		"ARG GO=\"1.24-alpine\"\nFROM golang:$GO":                        "ARG GO=\"1.26-alpine\"\nFROM golang:$GO",
		"ARG GO_VERSION=1.27\nFROM golang:${GO_VERSION}":                 "ARG GO_VERSION=1.27\nFROM golang:${GO_VERSION}",
		"ARG NODE_VERSION=1.24\nFROM golang:latest":                      "ARG NODE_VERSION=1.24\nFROM golang:latest",
		"# FROM golang:1.24":                                             "# FROM golang:1.24",
	} {
		if got := moveDockerfile(have); got != want {
			t.Errorf("%q becomes %q, not %q", have, got, want)
		}
	}
}

func TestDockerfilesAreKnownByTheirNames(t *testing.T) {
	for name, want := range map[string]bool{
		"Dockerfile": true, "build/Dockerfile.webhooks": true, "api.Dockerfile": true, "Containerfile": true, "Containerfile.dev": true,
		"Dockerfiles.md": false, "docs/my-Dockerfile": false,
	} {
		if got := isDockerfile(name); got != want {
			t.Errorf("isDockerfile(%q) is %t", name, got)
		}
	}
}
