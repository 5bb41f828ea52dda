# make quickstart   build, run graphmill quickstart, on the built-in graph of Debian
# make flight       the Arrow Flight server, bin/graphmill-flight
# make beam         the command for clusters, bin/graphmill-beam
# make test         every test that needs this repository alone, the golden files of real peers included
# make interop      tests against the real peers, of the code without assembly, and of the sockets of macOS
# make pages        pages of reports in headless Chromium at three widths, light and dark; screenshots in pages/
# make interop-data tests on other people's data, in the folder GRAPHMILL_DATA
# make goldens      the golden files again, with the real peers: fails if they differ
# make cluster      tests on a Flink on this machine, and in the long form on a Spark: needs Java 17 and Maven
# make race         every package, with the race detector (an hour)
# make race-short   the packages with the most goroutines, with the race detector
# make torture      the proofs over all commands, every case (hours); torture/README.md
# make torture-short  a sample of the same cases (minutes)
# make check-long   all of test, interop and cluster in the long form (an hour), and what it ran that a push does not
# make supply       known vulnerabilities, licences, bills of materials into dist/
# make lint         formatting, subjects of commits, sizes of files, ruff and mypy, golangci-lint with vet, vet of what tags, macOS and Windows add
# make generate     the files that tables make: python/src/graphmill/_table.py
# make site         the documentation as a site of static pages, dist/site; any broken link fails
# make wheel        the Python package with the command in it, into dist/
# make man          a manual page for each command, into dist/man
# make wheels       the wheels of all platforms and the sdist, into dist/wheels: the same commit gives the same bytes
# make wheels-check checks those: contents, metadata, platforms, an installation into an empty environment
# make release VERSION=x DRY=1  all files of a release into dist/release-x, without the upload; the same commit gives the same bytes
# make fuzz         each fuzz target for a while (FUZZTIME=30s): executions and coverage per parser

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
GO ?= go
# Paths of the clone do not reach what is compiled, so that a second clone takes packages and findings of lint from Go's caches. Tables for debuggers take
# two fifths of the time in which the programs of some hundred packages of tests are linked.
export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath -ldflags=-w
PYTHON ?= python3
FUZZTIME ?= 10s
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/graphmill
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(CACHE)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint
VENV := .venv
SITE := .venv-site
RELEASE := .venv-release
LINT := .venv-lint
# The packages with the most goroutines: the short form of make race.
RACE := ./batch/... ./internal/direct/... ./internal/dispatch/audit/... ./internal/partition/multilevel/... ./internal/feed/... ./internal/ordered/... ./internal/prefetch/... ./internal/progress/... ./internal/guard/...
# At a push, properties take few cases of a fixed random seed, so that a push does not fail at random; in the long form (make check-long) they
# take many of new seeds.
# Files of tests lie in memory, where a folder there has room.
SHORT = $(if $(filter long,$(TORTURE)),,RAPID_CHECKS=$(or $(RAPID_CHECKS),50) RAPID_SEED=$(or $(RAPID_SEED),1) TMPDIR=$(shell scripts/tmpdir.sh))
export GRAPHMILL_PYTHON ?= $(CURDIR)/$(VENV)/bin/python

.PHONY: build flight beam cluster quickstart test test-graphmill test-beam check-long race race-short supply torture torture-short interop pages interop-data large goldens generate site wheel wheels wheels-check release man lint fmt fuzz clean

build:
	$(GO) build -o bin/graphmill ./cmd/graphmill

flight:
	$(GO) -C flight build -o ../bin/graphmill-flight ./cmd/graphmill-flight

beam:
	$(GO) -C beam build -o ../bin/graphmill-beam ./cmd/graphmill-beam

quickstart: build
	bin/graphmill quickstart --out quickstart --force

# The reference of the draw law is Python with NumPy; the environment is remade
# when its pins change.
$(VENV)/pins: scripts/requirements.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
	cp scripts/requirements.txt $@

# make lint has vetted what go test would.
# The time limit is for a test that hangs, not for one on a busy machine.
test: $(VENV)/pins
	$(MAKE) -j2 test-graphmill test-beam

test-graphmill: $(VENV)/pins
	$(SHORT) $(GO) test -vet=off -timeout 2h ./...
	$(SHORT) $(GO) -C flight test -vet=off -timeout 2h ./...

# Half of its time waits for processes, so it runs beside the others.
test-beam:
	$(SHORT) $(GO) -C beam test -vet=off -timeout 2h ./...

cluster:
	$(GO) -C beam test -tags cluster -timeout 60m -run '^Test(Flink|Spark|Ray)' ./...

check-long: $(VENV)/pins
	GO=$(GO) scripts/check-long.sh

race: $(VENV)/pins
	for module in . flight beam; do $(GO) -C $$module test -race -p 1 -timeout 60m ./...; done
	$(GO) -C torture test -race -p 1 -timeout 60m ./internal/... ./clients

race-short:
	$(SHORT) $(GO) test -vet=off -race -timeout 60m $(RACE)
	$(SHORT) $(GO) -C flight test -vet=off -race -timeout 60m .

torture: $(VENV)/pins
	TORTURE=long $(GO) -C torture test -count=1 -timeout 0 -p 1 -v ./...
	$(MAKE) race

torture-short: $(VENV)/pins
	$(SHORT) $(GO) -C torture test -vet=off -count=1 -timeout 20m ./...

# A store of 5 * 10^9 edges, most of them holes: minutes, and some MB of the disk.
large:
	$(GO) test -tags large -timeout 40m -run '^TestLarge' -v .

# testsof is the packages with tests of the given names, so that go test builds no others.
testsof = $$(git grep -lE '^func Test($(1))' -- '*_test.go' ':!flight' ':!beam' ':!torture' | xargs -n1 dirname | sort -u | sed 's|^|./|')

# The peers are installed by bench/peers.sh on first use.
# They wait for their own processes and servers much of the time, so one package and one test more than processors run, the longest first.
interop: MORE = $$(($$(nproc 2>/dev/null || sysctl -n hw.ncpu) + 1))
# Where golden files of other people are at hand, .ci/run leaves those of the repository to make test and make check-long (TESTS=Peer).
interop: TESTS ?= Peer|Golden
interop: $(VENV)/pins
	$(SHORT) $(GO) test -vet=off -tags interop -timeout 60m -p $(MORE) -parallel $(MORE) -run '^Test($(TESTS))' ./python ./examples ./bench ./cmd/graphmill $(call testsof,$(TESTS))
	$(SHORT) $(GO) test -vet=off -tags purego ./internal/sample ./batch
	$(SHORT) $(GO) test -vet=off -tags portable ./internal/feed ./internal/vfs
	$(SHORT) $(GO) -C flight test -vet=off -tags interop -run '^TestPeer' ./...

pages:
	$(GO) test -tags interop -count=1 -run '^TestPeerPages$$' . -screenshots $(CURDIR)/pages

interop-data: $(VENV)/pins
	@test -d "$${GRAPHMILL_DATA:-}" || { echo "make interop-data: found GRAPHMILL_DATA=$${GRAPHMILL_DATA:-}, expected the folder of other people's data; set it" >&2; exit 1; }
	$(SHORT) $(GO) test -vet=off -tags interopdata -timeout 40m -run '^Test(Golden|Data)' $(call testsof,Golden|Data)

goldens:
	scripts/goldens.sh

generate:
	$(GO) generate ./internal/options

$(SITE)/pins: scripts/site/requirements.txt
	rm -rf $(SITE)
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check -r scripts/site/requirements.txt
	cp scripts/site/requirements.txt $@

site: build $(SITE)/pins
	$(SITE)/bin/python -B scripts/site/build.py bin/graphmill

# The command is static, so that it runs on any Linux of its processor. With COMMAND=FILE the wheel has that file in its place.
wheel:
	arch=$$($(GO) env GOARCH); case $$arch in amd64) tag=x86_64;; arm64) tag=aarch64;; *) echo "make wheel: found processor $$arch, expected amd64 or arm64" >&2; exit 1;; esac; \
	rm -f dist/graphmill-*.whl; \
	$(if $(COMMAND),install -D '$(COMMAND)' python/bin/graphmill,GO=$(GO) scripts/build.sh linux $$arch python/bin/graphmill); \
	GO=$(GO) scripts/notices.sh; \
	GRAPHMILL_WHEEL_TAG=py3-none-manylinux_2_17_$$tag $(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist ./python

man: build
	rm -rf dist/man
	bin/graphmill man dist/man

# The tools that build and check what is published; the environment is remade when their pins change.
$(RELEASE)/pins: scripts/release-requirements.txt
	rm -rf $(RELEASE)
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/pip install --quiet --disable-pip-version-check -r scripts/release-requirements.txt
	cp scripts/release-requirements.txt $@

wheels: $(RELEASE)/pins
	GO=$(GO) scripts/wheels.sh dist/wheels

wheels-check: $(RELEASE)/pins
	@test -d dist/wheels || { echo "make wheels-check: found no dist/wheels, expected the wheels to check; run make wheels" >&2; exit 1; }
	GO=$(GO) scripts/wheels-check.sh dist/wheels

release: $(RELEASE)/pins
	@test "$(DRY)" = 1 || { echo "make release: found DRY=$(DRY), expected DRY=1; files are uploaded by the workflow release.yml alone, when a tag v$(VERSION) is pushed" >&2; exit 1; }
	GO=$(GO) scripts/release.sh "$(VERSION)"

$(GOLANGCI):
	mkdir -p $(@D)
	GOBIN=$(@D) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

supply: build flight beam
	scripts/vulnerabilities.sh
	$(GO) -C torture test -count=1 ./supply
	mkdir -p dist
	for program in graphmill graphmill-flight graphmill-beam; do $(GO) -C torture run ./supply/write bill ../bin/$$program > dist/$$program.cdx.json; done

$(LINT)/pins: scripts/lint-requirements.txt
	rm -rf $(LINT)
	$(PYTHON) -m venv $(LINT)
	$(LINT)/bin/pip install --quiet --disable-pip-version-check -r scripts/lint-requirements.txt
	cp scripts/lint-requirements.txt $@

lint: $(GOLANGCI) $(LINT)/pins
	$(LINT)/bin/ruff check --quiet $$(git ls-files '*.py')
	$(LINT)/bin/ruff format --quiet --check $$(git ls-files '*.py')
	scripts/types.sh $(LINT)/bin/mypy
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "not gofmt-ed: $$out" >&2; exit 1; }
	@scripts/history.sh
	@large=$$(git ls-tree -r -l HEAD | awk '$$4 > 1048576 {print $$5}'); test -z "$$large" || { echo "make lint: found files of more than 1 MiB, expected none in the repository: $$large" >&2; exit 1; }
	for module in . flight beam torture examples/library; do (cd $$module; $(GOLANGCI) run ./...); done
	$(GO) vet -tags interopdata,large,faults $$(git grep -lE '^//go:build .*(interopdata|large|faults)' -- '*.go' ':!beam' ':!flight' ':!torture' | xargs -n1 dirname | sort -u | sed 's#^#./#')
	$(GO) vet -tags purego,portable ./batch ./internal/feed ./internal/prefetch ./internal/vector ./internal/vfs
	$(GO) -C beam vet -tags cluster ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./cmd/graphmill ./internal/vfs ./internal/feed ./internal/store

fmt: $(LINT)/pins
	gofmt -w $$(git ls-files '*.go')
	$(LINT)/bin/ruff check --quiet --fix $$(git ls-files '*.py')
	$(LINT)/bin/ruff format --quiet $$(git ls-files '*.py')

# Prints executions and coverage per parser. The short form is that of the seeds and committed inputs, in make test.
fuzz:
	GO=$(GO) FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

clean:
	rm -rf bin dist pages python/bin python/THIRD-PARTY-NOTICES $(VENV) $(SITE) $(RELEASE) $(LINT) quickstart
