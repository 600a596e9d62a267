# repoglot: the commands of everyday work; `make help` lists them. `make run` and
# `make test` need only Go, make and git; .ci/tools installs what else tests use.

GO      ?= go
BIN     := bin/repoglot
DEMO    ?= demo
LISTEN  ?= 127.0.0.1:8080
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: all help build run advance quick test race lint drift check bench fuzz clean

all: build

help: ## list the targets
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  %-8s %s\n' "$$name" "$$text"; done

build: ## build the binary, bin/repoglot
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN) ./cmd/repoglot

run: build ## serve the demo project
	$(GO) run ./cmd/demorepos $(DEMO)
	$(BIN) serve --config $(DEMO)/repoglot.yaml --listen $(LISTEN)

advance: ## push the demo's next commits while `make run` is running
	$(GO) run ./cmd/demorepos -advance $(DEMO)

quick: ## build, vet and the short, fast tests of the packages changed since origin/main
	@GO="$(GO)" ./.ci/quick

# With REPOGLOT_LONG_TESTS=1, poparse and catalog/ingest test every version of every
# file of the bundles, not a part of them.
test: ## all tests, after installing the programs that they use
	./.ci/tools
	$(GO) test -count=1 -shuffle=on -timeout 20m ./...

race: ## the short tests under the race detector
	$(GO) test -race -short -count=1 -shuffle=on -timeout 20m ./...

lint: ## check formatting, vet, staticcheck
	@out="$$($(GO) tool gofumpt -l .)"; test -z "$$out" || { echo "not formatted (go tool gofumpt -w .):"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

drift: ## check that go.mod, go.sum and generated files are up to date
	$(GO) mod tidy -diff
	$(GO) mod verify
	$(GO) test -count=1 -run 'Drift|Imports|References|Citations' ./...

check: lint drift test race ## everything that CI does

bench: build ## measure the figures of docs/benchmarks.md
	$(GO) run ./cmd/bench -repoglot $(BIN)

fuzz: ## run every fuzz target for 20 seconds (FUZZTIME)
	./.ci/fuzz

clean: ## remove bin/ and the demo
	rm -rf bin $(DEMO)
