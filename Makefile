# repoglot: the commands of everyday work. `make run` and `make test` need only
# Go, make and git; tests install what else they use (.ci/tools).

GO      ?= go
BIN     := bin/repoglot
DEMO    ?= demo
LISTEN  ?= 127.0.0.1:8080
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: all build run advance test race lint drift check bench fuzz clean

all: build

build: ## the binary, in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-X main.version=$(VERSION)" -o $(BIN) ./cmd/repoglot

run: build ## serve the demo project
	$(GO) run ./cmd/demorepos $(DEMO)
	$(BIN) serve --config $(DEMO)/repoglot.yaml --listen $(LISTEN)

advance: ## push the demo's next commits, to see changes arrive in a running `make run`
	$(GO) run ./cmd/demorepos -advance $(DEMO)

# With REPOGLOT_LONG_TESTS=1, poparse and catalog/ingest take every version of every
# file of the bundles beside the repository, not a part of them.
test: ## everything that can be tested, after installing what the tests use
	./.ci/tools
	$(GO) test -count=1 -shuffle=on ./...

race: ## the same under the race detector, with fewer repetitions (-short)
	$(GO) test -race -short -count=1 -shuffle=on -timeout 20m ./...

lint: ## formatting, vet, staticcheck
	@out="$$($(GO) tool gofumpt -l .)"; test -z "$$out" || { echo "not formatted (go tool gofumpt -w .):"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

drift: ## go.mod, go.sum and generated files are what the sources ask for
	$(GO) mod tidy -diff
	$(GO) mod verify
	$(GO) test -count=1 -run 'Drift|Imports' ./...

check: lint drift test race ## what CI does

bench: build ## the figures of docs/benchmarks.md
	$(GO) run ./cmd/bench -repoglot $(BIN)

fuzz: ## every fuzz target for a short while
	./.ci/fuzz

clean:
	rm -rf bin $(DEMO)
