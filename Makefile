# Operon's own build. `make` alone prints the targets.
#
# Everything is built by the go command into bin/. The first build compiles
# Kubernetes; after that Go's cache makes it a matter of seconds.

GO     ?= go
BIN    := $(CURDIR)/bin
OPERON := $(BIN)/operon
KEEP   ?=

ifeq ($(shell command -v $(GO) 2>/dev/null),)
$(error no Go found: install Go 1.26 or later and put its bin directory on PATH)
endif

# One setting for every build, so that nothing is compiled twice and bin/operon is static.
export CGO_ENABLED := 0
# Tests that need a Kubernetes API server start this binary.
export OPERON

# How the command is compiled. Kubernetes is most of the first build's work, and inlining and DWARF a third of that;
# both are left out but for the standard library, which is a small part of the work and most of what runs. `go build
# ./cmd/operon` does without this: half as long again to build, a little faster to start. Tests and vet of the command take the same flags, or they would compile Kubernetes once more. The benchmarks'
# own binary, which measures the library, is not built this way.
build demo lint test-command test-examples bench-start: export GOFLAGS := $(GOFLAGS) '-gcflags=all=-l -dwarf=false' -gcflags=std=

# The race detector needs a C compiler; without one the tests run all the same, and say so.
RACE := $(shell command -v "$$($(GO) env CC)" >/dev/null 2>&1 && echo "env CGO_ENABLED=1 $(GO) test -race" || echo "$(GO) test")

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this list.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the command into bin/operon (the first time this compiles Kubernetes).
	@$(GO) run ./hack/gobuild -C cmd/operon -ldflags '-s -w' -o $(OPERON) .

.PHONY: demo
demo: build ## Watch a Memcached converge on a real control plane; KEEP=1 leaves it running.
	@$(GO) run ./hack/gobuild -C examples/memcached -o $(BIN)/memcached ./cmd
	@$(GO) run ./hack/gobuild -C examples/memcached -o $(BIN)/demo ./demo
	@$(BIN)/demo --operon $(OPERON) --manager $(BIN)/memcached $(if $(KEEP),--keep)

.PHONY: test
test: test-command test-examples test-library ## Run all tests, unit and on a real control plane; the library's with the race detector.

.PHONY: test-command
test-command: build ## Run the tests of the command, and of the fake client's CEL rules, which link the API server's code too.
	$(GO) test -timeout 20m ./cmd/operon/... ./pkg/client/fake/celrules/...

# The examples that the command made. They are outside the workspace, as its users' projects are.
MADE := guestbook application cronjob

.PHONY: test-examples
test-examples: build ## Run the tests of the examples that the command made.
	@for example in $(MADE); do (cd examples/$$example && GOWORK=off $(GO) test ./...) || exit 1; done

.PHONY: test-library
test-library: build ## Run the tests of the library, the benchmarks' module and the first example.
	$(if $(findstring race,$(RACE)),,@echo "no C compiler found: the race detector is off")
	$(RACE) ./... ./bench/... ./examples/memcached/...

.PHONY: lint
lint: $(BIN)/staticcheck ## Run gofmt, go vet and staticcheck.
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./... ./bench/... ./examples/memcached/... ./cmd/operon/... ./pkg/client/fake/celrules/...
	@for example in $(MADE); do (cd examples/$$example && GOWORK=off $(GO) vet ./...) || exit 1; done
	$(BIN)/staticcheck ./... ./bench/... ./examples/memcached/... ./cmd/operon/... ./pkg/client/fake/celrules/...

$(BIN)/staticcheck: hack/lint/go.mod hack/lint/go.sum
	@cd hack/lint && GOWORK=off $(GO) build -o $@ honnef.co/go/tools/cmd/staticcheck

.PHONY: bench
bench: build ## Measure beside controller-runtime, and the start of the cluster, in ten minutes; writes bench/RESULTS.md, results.json, growth.svg.
	cd bench && $(GO) run . -write
	@$(MAKE) bench-start

.PHONY: bench-quick
bench-quick: build ## The main rows in fewer rounds, in two minutes; writes nothing.
	cd bench && $(GO) run . -quick
	@$(MAKE) bench-start STARTS=3

STARTS ?= 10
.PHONY: bench-start
bench-start: build ## Measure the start of the cluster, STARTS times.
	cd cmd/operon && $(GO) test -run '^$$' -bench Start -benchtime $(STARTS)x .

.PHONY: clean
clean: ## Remove what was built.
	rm -rf $(BIN)
