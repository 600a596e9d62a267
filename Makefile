# repoglot: the commands of everyday work; `make help` lists them. `make run` and
# `make test` need only Go, make and git; .ci/tools installs what else tests use.

GO      ?= go
BIN     := bin/repoglot
DEMO    ?= demo
LISTEN  ?= 127.0.0.1:8080
PREFIX  ?= /usr/local
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# goreleaser is kept out of go.mod: it has hundreds of dependencies. From 2.15 on it
# needs a module that the Go proxy does not have.
GORELEASER ?= $(GO) run github.com/goreleaser/goreleaser/v2@v2.13.3

.PHONY: all help build install release completions run advance screenshots quick test postgres race lint drift modules check bench vuln fuzz nightly clean

all: build

help: ## list the targets
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  %-9s %s\n' "$$name" "$$text"; done

build: ## build the binary, bin/repoglot
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN) ./cmd/repoglot

install: build completions ## install the binary, man page and completions below PREFIX, /usr/local
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/repoglot
	install -D -m 644 docs/repoglot.1 $(DESTDIR)$(PREFIX)/share/man/man1/repoglot.1
	install -D -m 644 bin/completions/repoglot.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/repoglot
	install -D -m 644 bin/completions/_repoglot $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_repoglot
	install -D -m 644 bin/completions/repoglot.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/repoglot.fish

completions: build
	mkdir -p bin/completions
	$(BIN) completion bash > bin/completions/repoglot.bash
	$(BIN) completion zsh > bin/completions/_repoglot
	$(BIN) completion fish > bin/completions/repoglot.fish
	.ci/third-party > bin/THIRD-PARTY

# Without a tag at HEAD it makes a snapshot. Publish dist/ with `gh release create`.
release: completions ## build archives, packages, checksums and SBOMs in dist/, and try them
	GORELEASER_CURRENT_TAG=$(shell git describe --tags --abbrev=0 2>/dev/null || echo v0.0.0) $(GORELEASER) release --clean --skip=publish,announce,validate $(shell git describe --exact-match --tags HEAD >/dev/null 2>&1 || echo --snapshot)
	REPOGLOT_DIST=$(CURDIR)/dist $(GO) test -count=1 -run 'TestRelease' ./cmd/repoglot

run: build ## serve the demo project
	.ci/demo $(DEMO)
	$(BIN) serve --config $(DEMO)/repoglot.yaml --listen $(LISTEN)

advance: ## push the demo's next commits while `make run` is running
	.ci/demo -advance $(DEMO)

# The demo is at its last commits, and on a port of its own.
screenshots: build ## take the pictures of docs/img with Chromium
	rm -rf bin/shots && .ci/demo bin/shots
	for i in 1 2 3 4 5 6; do .ci/demo -advance bin/shots; done
	$(BIN) serve --config bin/shots/repoglot.yaml --listen 127.0.0.1:18080 & server=$$!; \
	trap "kill $$server" EXIT; until curl -sf http://127.0.0.1:18080/readyz >/dev/null; do sleep 1; done; \
	token=$$($(BIN) token create --config bin/shots/repoglot.yaml --scope write --author Ada --email ada@example.org shots); \
	REPOGLOT_SCREENSHOTS=http://127.0.0.1:18080 REPOGLOT_SCREENSHOTS_TOKEN=$$token $(GO) test -count=1 -run TestScreenshots ./api/web

quick: ## build, vet and the short, fast tests of the packages changed since origin/main
	@GO="$(GO)" ./.ci/quick

# Tests make their files in memory where .ci/tmp finds some, and three packages run at once,
# since some wait most of their time. SHARD=2/3 takes the second third of the packages;
# PostgreSQL belongs to the first.
test race postgres nightly: export TMPDIR = $(shell ./.ci/tmp)

# A third of the time is the compiler's if nothing is cached. With less garbage collection and
# nothing for debuggers it takes a quarter less. Tests run without GOGC: some measure memory.
# These flags are the same for lint, which so compiles nothing again; lint vets.
test lint drift race: export GOGC = 400
test lint drift: export CGO_ENABLED = 0
COMPILER = -dwarf=false
test lint drift: export GOFLAGS := $(GOFLAGS) -gcflags=all=$(COMPILER)
test: PLAIN = -vet=off -exec 'env -u GOGC' -count=1
test: ## all tests, after installing the programs that they use
	./.ci/tools
	$(GO) test -p 3 $(PLAIN) -shuffle=on -timeout 60m $$(./.ci/packages)
ifeq ($(filter-out 1/%,$(SHARD)),)
	REPOGLOT_TEST_ENGINE=postgres $(GO) test -short $(PLAIN) -shuffle=on -timeout 60m ./catalog/store/... ./api
	REPOGLOT_TEST_ENGINE=postgres $(GO) test $(PLAIN) -run ^TestTwoProcesses ./catalog/push
	REPOGLOT_TEST_ENGINE=postgres $(GO) test -short $(PLAIN) -run '^Test(Quotas|OneComponentFails|Edit(|ComesBack|OfLargeFile)|Killed)$$' ./catalog/ingest
endif

postgres: ## the short tests of the store, and of what is built on it, on PostgreSQL
	REPOGLOT_TEST_ENGINE=postgres $(GO) test -short -count=1 -shuffle=on -timeout 40m ./catalog/store/... ./catalog/ingest ./api

# The browser asks one page after the other, and takes most of its time itself; lint vets.
# SQLite and its libc are C in Go, whose memory is not on the heap of Go: the race detector
# looks at none of it, and asking it at each access takes three quarters of the time. Their
# mutexes tell it that they are taken all the same: what does is inlined from package sync.
# ALONE are tests that take long there and ask one thing after the other, which finds no race.
ALONE = Golden|GoldenUnits|Methods|RoutesHidePrivate|CSVOfEveryList|Head|WhoMayWhat|ConvertedArchives|DocsHaveParameters|Dialect|Paths|Statements|UnitSearch|UnitSearchErrors|UnitSearchPages|FailingChecks|FailingChecksOfPrivate|VerifyFindsEverything|VerifyNamesWhatIsWrong|RealRepositories|TreesAreBounded|Fsck|ReceiveAgainstGit|ReceiveDropsBases|CopyManyParents|PackAgainstGoGit|Clients|KeptAnswersAreFresh|WithoutPushMode|WLCChanges|Crawl|DiscoverRealRepositories|DiscoverLayouts|Hostiles|CompareHostile|MemoryOfFiles|MemoryOfCommits|LongUntranslated|AgainstTemplate|LargeSource|ProjectFiles|ManyForms|ExplainHostile|GoldenStatistics|StatisticsAddUp
RACE = -race -gcflags=all=$(COMPILER) $(foreach c,sqlite/lib libc memory,'-gcflags=modernc.org/$(c)=-race=false $(COMPILER)')
race: ## the short tests under the race detector, of what several goroutines share
	$(GO) test -p 4 -vet=off $(RACE) -short -count=1 -shuffle=on -timeout 60m -skip '^Test(Browser.*|$(ALONE))$$' $$(./.ci/packages shared)

lint: ## check formatting, vet, staticcheck, known vulnerabilities
	@out="$$($(GO) tool gofumpt -l .)"; test -z "$$out" || { echo "not formatted (go tool gofumpt -w .):"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	VULN_TIME=120 ./.ci/vuln

modules: # what drift checks besides tests
	$(GO) mod tidy -diff
	$(GO) mod verify

# Only packages that have such a test are linked.
DRIFT = Drift|Imports|References|Citations
drift: modules ## check that go.mod, go.sum and generated files are up to date
	$(GO) test -count=1 -vet=off -run '$(DRIFT)' $$(grep -rlE --include='*_test.go' '^func Test[A-Za-z]*($(DRIFT))' . | xargs -n1 dirname | sort -u)

check: lint drift test race ## everything that CI does

bench: build ## measure the figures of docs/benchmarks.md
	GO="$(GO)" ./.ci/bench -repoglot $(BIN)
	$(GO) test -run '^$$' -bench 'Against|ReadFiles' -cpu 1 ./poparse ./catalog/ingest/unit
	$(GO) test -run '^$$' -bench '^BenchmarkChecks$$' -benchtime 3x -cpu 2 ./catalog/ingest
	$(GO) test -run '^$$' -bench 'Steps|CloneHTTP|PollHTTP' ./gitsource
	$(GO) test -run '^$$' -bench PullAfter -benchtime 300x ./catalog/ingest

vuln: ## ask the vulnerability database of Go about the code that is called
	./.ci/vuln

fuzz: ## run every fuzz target for 20 seconds (FUZZTIME)
	./.ci/fuzz

nightly: ## what takes too long for every push: a minute of each fuzz target, the long tests, imports and races on PostgreSQL
	FUZZTIME=60s ./.ci/fuzz
	REPOGLOT_LONG_TESTS=1 $(GO) test -count=1 -timeout 120m $$(./.ci/packages)
	REPOGLOT_TEST_ENGINE=postgres $(GO) test -count=1 -shuffle=on -timeout 60m ./catalog/ingest
	REPOGLOT_TEST_ENGINE=postgres $(GO) test -count=1 -run ^TestHostileRepositories ./cmd/repoglot
	REPOGLOT_TEST_ENGINE=postgres $(GO) test -race -short -count=1 -shuffle=on -timeout 60m ./catalog/store/... ./catalog/ingest

clean: ## remove bin/, dist/ and the demo
	rm -rf bin dist $(DEMO)
