# Slipway's tasks. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/slipway-dev/slipway/internal/cli.Version=$(VERSION)
GOBUILD := CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)"
BIN ?= bin
# What a program may have at most, in bytes (docs/dependencies.md).
MAX_SIZE := 16000000
# The modules beside the main one. They use libraries of Kubernetes and of clouds, which the main one never does.
ADAPTERS := $(wildcard adapters/*)
# These two hold all of the kubelet: go vet and staticcheck of them take ten minutes, so lint leaves them out.
KUBELETS := $(wildcard test/kubelet/minor*)
MODULES := $(ADAPTERS) release test/e2e test/e2e/karpenter test/registry test/stability
# Those of Karpenter need a newer Go than the main one. An older go fetches it like a module, unless somebody forbids that.
export GOTOOLCHAIN ?= auto
EXAMPLE ?= examples/aks/azure-cni.json

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z][a-z0-9-]*:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: download
download: ## fetch every module that the other targets need; after it they need no network
	go mod download
	set -e; for m in $(MODULES) $(KUBELETS); do (cd $$m && go mod download); done

.PHONY: build
build: ## build both binaries into bin/, static and stripped, at most MAX_SIZE bytes each; these are what the virtual machines run
	$(GOBUILD) -o $(BIN)/ ./cmd/...
	@ls -l $(addprefix $(BIN)/,$(notdir $(wildcard cmd/*))) | awk '{printf "  %-14s %5.1f MB\n", $$9, $$5 / 1e6} \
		$$5 > $(MAX_SIZE) {print "    " $$5 " bytes; the limit is $(MAX_SIZE): see docs/dependencies.md"; large = 1} END {exit large}'

.PHONY: run
run: ## provision the example node into out/node, and show what came of it
	@$(GOBUILD) -o bin/ ./cmd/slipway-node
	@rm -rf out/node
	@bin/slipway-node provision --root out/node --provision-config $(EXAMPLE) --facts examples/facts/ubuntu.json --log-level error
	@echo; echo "The tree, out/node:"; (cd out/node && find . -mindepth 1 \( -type d -printf '  %m  %P/\n' \) -o -type l -printf '  link %P -> %l\n' -o -printf '  %m  %P  (%s bytes)\n' | sort -k2)
	@echo; echo "What would have been done to units, modules and the kernel: out/node/run/slipway/actions.jsonl"

.PHONY: test test-main test-adapters test-long test-long-main test-more
test: test-main test-adapters ## unit, golden, script and fuzz-seed tests; at most three minutes on two cores
test-main: ## those of the main module
	go test -short ./...
test-long: test-long-main test-adapters ## the same, and the tests that take longer
test-long-main: ## those of the main module
	go test -timeout 1h ./...
test-more: ## those of the packages of which "make test" may leave something out: they ask for -short, for the user, or for a program
	go test -timeout 1h $$(go list -f '$(TEST_FILES)' ./... | xargs grep -lE '$(ASKS)' | xargs -n 1 dirname | sort -u)
TEST_FILES := {{$$dir := .Dir}}{{range .TestGoFiles}}{{$$dir}}/{{println .}}{{end}}{{range .XTestGoFiles}}{{$$dir}}/{{println .}}{{end}}
ASKS := testing\.Short\(\)|\b[tb]\.Skip(f|Now)?\(|uid\(\)|LookPath
test-adapters: ## those of the modules beside the main one
	set -e; for m in $(ADAPTERS) release test/e2e test/registry test/stability; do (cd $$m && go test ./...); done

.PHONY: race race-part
race: ## the tests under the race detector
	go test -race ./...
race-part: ## those of the packages that start goroutines, as CI does
	go test -race ./cmd/slipway-node ./internal/agent ./internal/apply ./internal/cli ./internal/fetch ./internal/host ./internal/localdns ./internal/probe ./internal/rootfs ./internal/source ./internal/systemd ./internal/watch

.PHONY: lint
lint: workflows ## gofmt, vet, staticcheck, and the rules of the house
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "gofmt -w these:"; echo "$$out"; exit 1; }
	go vet ./... && go vet -tags failpoint ./... && go vet -tags crosscheck ./test/crosscheck ./test/kubelet
	go tool staticcheck ./... && go tool staticcheck -tags failpoint ./internal/failpoint ./internal/host ./internal/rootfs ./internal/systemd ./test/crash
	go test -count=1 ./test/arch
	@set -e; staticcheck=$$(go tool -n staticcheck); for m in $(MODULES); do (set -x; cd $$m && go vet ./... && $$staticcheck ./...); done

.PHONY: quick
quick: ## what most changes need to be tried with: gofmt, vet, the import rules, the planner and the cases; under a minute on two idle cores
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "gofmt -w these:"; echo "$$out"; exit 1; }
	go vet ./...
	go test -short ./test/arch ./internal/plan/... ./test/cases

.PHONY: golden
golden: ## rewrite the golden files; review the diff
	go test ./test/cases ./internal/plan ./status ./userdata ./nodeconfig/... ./exitcode ./cmd/slipway ./internal/difference ./internal/explain ./internal/cse ./internal/anatomy ./internal/anatomy/record ./internal/anatomy/svg ./launch ./launch/azure -update
	cd adapters/azure && go test . ./detect -update

.PHONY: generate
generate: ## regenerate protobuf code, JSON Schemas and the table of what kubelets take (downloads the sources of 16 versions)
	go generate ./...

.PHONY: contract
contract: ## compare AKS's node contract with the one in a checkout of AgentBaker: AGENTBAKER=DIR
	go run ./api/aksnodeconfig/gen -listing $(AGENTBAKER)/aks-node-controller/proto/aksnodeconfig/v1 >upstream.tsv.new || { rm upstream.tsv.new; exit 1; }
	mv upstream.tsv.new api/aksnodeconfig/v1/testdata/upstream.tsv
	go test ./api/aksnodeconfig/v1

.PHONY: costs
costs: ## measure the figures of docs/costs.md and docs/launch.md, and write them there
	go test ./test/bench/costs -run TestFigures -update -timeout 60m -v

.PHONY: bench
bench: ## benchmarks with allocations
	go test -run '^$$' -bench . -benchmem ./test/bench ./launch ./userdata ./internal/generation ./internal/document

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s)
	@mkdir -p out; set -e; for pkg in $$(go list ./...); do for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
		echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(or $(FUZZTIME),10s) -fuzzminimizetime 20x $$pkg >out/fuzz.log 2>&1 \
			|| { cat out/fuzz.log; $(FUZZ_ENDED) || exit 1; }; tail -n 1 out/fuzz.log; done; done
# Before Go 1.27 a target can fail because its time is over, where the machine is busy (go.dev/issue/75804). It has then written no input.
FUZZ_ENDED := grep -q '^    context deadline exceeded$$' out/fuzz.log && ! grep -q 'Failing input written' out/fuzz.log

# What is left to chance in crosscheck and crash is drawn from SEED: another number each time, printed. The same number draws the same
# points.
SEED := $(or $(SEED),$(shell date +%s))

.PHONY: crosscheck crosscheck-part kubelets kubelets-part
crosscheck: N := 100000
crosscheck: kubelets ## compare with cloud-init what a cloud-config writes, on N documents (100000); installs cloud-init where it is missing (root)
crosscheck-part: N := 5000
crosscheck-part: kubelets-part ## the same on 5000, and kubelets-part, as CI does
crosscheck crosscheck-part:
	@/usr/bin/python3 -c 'import cloudinit' 2>/dev/null || { apt-get update -qq && apt-get install -y --no-install-recommends cloud-init; }
	go test -tags crosscheck -count=1 -timeout 3h -v ./test/crosscheck -documents $(N) -seed $(SEED)
kubelets: CONFIGURATIONS := 100000
kubelets: ## compare with the kubelet's own code which configurations it starts with, on CONFIGURATIONS of them (100000)
kubelets-part: CONFIGURATIONS := 2000
kubelets-part: ## the same on 2000
kubelets kubelets-part:
	go test -tags crosscheck -count=1 -timeout 3h -v ./test/kubelet -configurations $(CONFIGURATIONS) -seed $(SEED)

.PHONY: crash crash-part
crash: ## die, cut the power, fill the disk, race and get every signal at every point, kill downloads; print what came of it
crash-part: PART := -short
crash-part: ## the same at some points of every kind, as test-long does
crash crash-part:
	@mkdir -p out; echo "seed $(SEED); out/crash.txt shows what has ended"
	@go test -tags failpoint -count=1 -timeout 3h ./test/crash $(PART) -seed $(SEED) -table $(CURDIR)/out/crash.txt >out/crash.log 2>&1; code=$$?; \
		cat out/crash.txt; test $$code = 0 || { grep -v '^ok' out/crash.log | tail -60; exit 1; }
	go test -tags failpoint -count=1 ./internal/image/download $(if $(PART),,./internal/image/bake)
	$(if $(PART),,go test -count=1 -timeout 3h ./test/session -all)

# The program's module is test/e2e; it works from the root of the repository.
E2E = go build -C test/e2e -o $(CURDIR)/out/e2e.program ./cmd/e2e && out/e2e.program
.PHONY: e2e
e2e: ## boot real machines that join a real cluster, one case of each kind (root); CASE=NAME runs one, SINCE=COMMIT adds what changed
	$(E2E) run $(if $(SINCE),--since $(SINCE)) $(CASE)

.PHONY: e2e-all
e2e-all: ## all cases
	$(E2E) run --all

.PHONY: e2e-rest
e2e-rest: ## all cases but those that have passed, with the same programs, image and case: goes on where e2e-all or e2e-rest ended
	$(E2E) run --rest

.PHONY: e2e-boot
e2e-boot: ## measure every way of booting a node (root); FLAGS="--runs 5 --variant script,floor --docs"
	@$(E2E) boot $(FLAGS)

.PHONY: e2e-image
e2e-image: ## make the node images that the machines boot from
	$(E2E) image

.PHONY: lab
lab: ## bring up a cluster with one node, and leave it running (root)
	$(E2E) lab

.PHONY: lab-down
lab-down: ## end it
	$(E2E) lab-down

.PHONY: clean
clean: ## remove what was built; ~/.cache/slipway-e2e, the parts of the machines, stays
	rm -rf bin out

# A release is made of the commit that is checked out. KEYS are its two keys, "--key FILE --key FILE"; without them test keys sign.
RELEASE = go build -C release -o $(CURDIR)/out/release.program ./cmd/release && out/release.program
.PHONY: release release-check release-check-part
release: ## make the files of a release, VERSION=v0.1.0, in out/release; KEYS="--key FILE --key FILE" sign them
	@mkdir -p out; $(RELEASE) make --version $(VERSION) $(KEYS)
release-check: ## make a release twice, compare, install it in trees of Debian, and check it with other people's tools (root)
	release/check/run
release-check-part: ## the same for amd64 and Debian 12, once, as CI does
	release/check/run short

.PHONY: stability stability-record
stability: ## compare what users rely on with the last release, and read what each release has written
	cd test/stability && go test -count=1 ./...

stability-record: ## write the record of the release VERSION (v0.1.0) into test/stability; never that of a version with a tag
	@! git rev-parse -q --verify "refs/tags/$(VERSION)" >/dev/null || { echo "$(VERSION) has a tag: its record stays as it is"; exit 1; }
	cd test/stability && go run ./cmd/record $(VERSION)

# What follows is for the forge. Each step of .github/workflows is a target of this file or .ci/run.
.PHONY: workflows
workflows: ## check the forge's workflow files with actionlint
	@actionlint=$$(go tool -C test/tools -n actionlint) && $$actionlint -shellcheck= -pyflakes=

download: download-tools
.PHONY: download-tools
download-tools:
	cd test/tools && go mod download

# One line for each module that a go.mod requires directly, or that has one of its tools, and of which the proxy has a newer version.
REQUIRED := {{if not (or .Main .Indirect .Replace)}}{{.Path}}{{end}}
BEHIND := {{if .Error}}{{.Path}} {{.Version}} unknown{{else if .Update}}{{.Path}} {{.Version}} {{.Update.Version}}{{end}}
.PHONY: outdated
outdated: ## list the modules of all go.mod files that are behind the newest version of the Go proxy
	@{ echo "go.mod module used newest"; for mod in $$(git ls-files '*go.mod'); do (cd $$(dirname $$mod) && \
		go list -m -u -e -f '$(BEHIND)' $$(go list -m -e -f '$(REQUIRED)' all; go list -e -f '{{with .Module}}{{.Path}}{{end}}' tool 2>/dev/null) \
			| sort -u | awk -v mod=$$mod '{print mod, $$0}'); done; } | awk '{printf "%-36s %-44s %-36s %s\n", $$1, $$2, $$3, $$4}'

# IMAGE names its documents, by default examples/image/trixie/components; IMAGE_FLAGS="--mirror URL" are flags of the build.
.PHONY: image-newest image-weekly image-change
image-newest: build ## lock the newest packages and components of an example image, and write the difference to out/weekly/diff.md
	.ci/weekly-image lock

image-weekly: image-newest ## the same, and build the image, verify it against the lock and check it
	.ci/weekly-image build

image-change: ## open a change with what image-weekly has left in out/weekly (GH_TOKEN)
	.ci/weekly-image open

.PHONY: image-tools
image-tools: ## install what image-weekly needs beside Go, on Debian or Ubuntu (root)
	apt-get update -qq
	apt-get install -y --no-install-recommends mmdebstrap debian-archive-keyring python3 uidmap

.PHONY: vulnerabilities
vulnerabilities: ## look for known vulnerabilities in what both programs call (needs the database, vuln.go.dev)
	@govulncheck=$$(go tool -C test/tools -n govulncheck) && $$govulncheck ./cmd/...

.PHONY: e2e-skew
e2e-skew: ## join nodes of each minor version of the kubelet, and write docs/support.md (root); KUBELET="1.34 1.35" names some
	$(E2E) skew $(KUBELET)

# The site's generator is another module's, and takes minutes to build: it is built again when its version changes.
HUGO := out/hugo
$(HUGO): site/go.mod site/go.sum
	CGO_ENABLED=0 go build -C site -trimpath -ldflags "-s -w" -o $(CURDIR)/$(HUGO) github.com/gohugoio/hugo

.PHONY: site site-check
site: $(HUGO) ## build the documents as a static site in out/site; the first run fetches and builds Hugo, which takes minutes
	@rm -rf out/site out/site-data && mkdir -p out/site-data
	set -e; for p in slipway slipway-node; do go run ./cmd/$$p help -o json >out/site-data/$$p.json; done
	go test -count=1 ./internal/explain -run '^TestFieldsDocument$$' -fields $(CURDIR)/out/site-data/fields.json
	cd site && ../$(HUGO) --noBuildLock --panicOnWarning

site-check: site ## check the site in Chromium: links, requests, accessibility, 400 px, dark, search; installs Chromium and Node.js where they are missing (root)
	@command -v chromium >/dev/null && command -v npm >/dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y --no-install-recommends chromium nodejs npm; } \
		|| { echo "make site-check needs chromium and npm: install them, or run it as root on Debian"; exit 1; }
	cd site && npm ci --ignore-scripts --no-audit --no-fund && CHROMIUM=$$(command -v chromium) node check/check.mjs ../out/site
