# Everything that is done with vksmedic from a checkout. `make help` lists it.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# One set of build flags everywhere: another one compiles Kubernetes a second time.
export GOFLAGS := -trimpath
export CGO_ENABLED ?= 0
# The lab and the tools live outside of the source tree, so that a fresh clone reuses them.
CACHE       := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/vksmedic
export VKSMEDIC_LAB_DIR ?= $(CACHE)/lab
LAB         := $(VKSMEDIC_LAB_DIR)/bin/lab
LINT_VERSION := v2.15.0
LINT        := $(CACHE)/tools/golangci-lint-$(LINT_VERSION)
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS     := -s -w -X main.version=$(VERSION)
OS          := $(shell uname -s)

include testdata/lab/lab.mk

.PHONY: help
help: ## Show what can be made.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/vksmedic.
	@echo "building bin/vksmedic $(VERSION)"
	@go build -ldflags '$(LDFLAGS)' -o bin/vksmedic .

.PHONY: demo
demo: build lab ## Start the program on a real Supervisor with broken clusters, here on this machine.
	@started=; \
	if ! $(LAB) status >/dev/null 2>&1; then \
	  started=yes; trap '$(LAB) down' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM; $(LAB) up; \
	fi; \
	config=$$($(LAB) path --as $${AS:-administrator}); \
	echo "starting bin/vksmedic --kubeconfig $$config"; \
	bin/vksmedic --kubeconfig "$$config" $(ARGS) || exit $$?; \
	if [ -n "$$started" ]; then echo "stopping the lab; 'make lab-up' keeps one running between demos"; fi

# What the race detector needs.
.PHONY: gcc
gcc:
	@command -v gcc >/dev/null || { \
	  echo "installing gcc: the race detector needs it"; \
	  sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  $$sudo apt-get update -q && $$sudo apt-get install -y -q --no-install-recommends gcc libc6-dev; }

# Runs $(1) with a lab of its own, which ends with it, however it ends.
define with-lab
	@if [ "$(OS)" != Linux ]; then \
	  if [ "$${CI:-}" = true ]; then echo "the lab runs on Linux only" >&2; exit 1; fi; \
	  echo "SKIPPED: tests against the lab: it runs on Linux only"; $(1); exit $$?; \
	fi; \
	state=$$(mktemp -d); trap '$(LAB) down --state "$$state" || true; rm -rf "$$state"' EXIT; \
	trap 'exit 130' INT; trap 'exit 143' TERM; \
	$(LAB) up --state "$$state"; export VKSMEDIC_LAB_STATE="$$state"; $(1)
endef

# Tests in simulated time that change their script while the walk's goroutines rest. The race
# detector does not know that these take turns, so test-engine runs them without it.
SIMULATED := ^(TestRandomWalks|TestBrokenRules|TestDoubtIsNotTimedByTheClock|TestDebtInDoubt|TestResumeKeepsTheWideLease)$$

.PHONY: test
test: gcc lab test-engine ## Run all tests, those against the lab included, with the race detector.
	@echo "testing the lab itself"
	@cd testdata/lab && go test ./...
	@echo "testing vksmedic"
	$(call with-lab,CGO_ENABLED=1 go test -race -timeout 30m -skip '$(SIMULATED)' ./... ./testdata/labtest/...)

.PHONY: test-engine
test-engine: ## Run ten thousand random walks of the engine under the articles, and see them fail when a rule is broken.
	@echo "walking at random"
	@CGO_ENABLED=0 VKSMEDIC_WALKS=$${VKSMEDIC_WALKS:-10000} go test -timeout 30m -count 1 -v -run '$(SIMULATED)' ./remedies/walk | \
	  grep -v -e '^=== ' -e '--- PASS: .*/walks'

.PHONY: test-drain
test-drain: gcc lab ## Run only the stuck drain end to end: from flag to fix, by keys, on real controllers.
	$(call with-lab,CGO_ENABLED=1 go test -race -timeout 30m -v -run '^TestDrain' .)

.PHONY: hostile
hostile: ## Run the real program against a server, Secrets and dumps that mean harm.
	@VKSMEDIC_LAB_DIR=/nonexistent go test -count=1 -timeout 10m -v -run '^TestHostile$$' . | grep -vE '^ *(===|--- PASS)|hostile_test.go:[0-9]+: [0-9.]+m?s, '

.PHONY: test-quick
test-quick: ## Run the tests that need no lab.
	@VKSMEDIC_LAB_DIR=/nonexistent go test ./...

.PHONY: bench
bench: lab ## Print figures and ratios; no figure fails the build.
	$(call with-lab,go test -run '^$$' -bench . -benchmem -timeout 30m ./...)

.PHONY: lint
lint: $(LINT) ## Check format, vet and golangci-lint, for the lab too.
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not formatted:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	@go vet ./... ./testdata/labtest/...
	@$(LINT) run ./... ./testdata/labtest/...
	@cd testdata/lab && go vet ./... && $(LINT) run -c ../../.golangci.yml ./...
	@echo "lint: clean"

$(LINT):
	@echo "building golangci-lint $(LINT_VERSION)"
	@mkdir -p $(@D)
	@GOBIN=$(@D) CGO_ENABLED=0 go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv $(@D)/golangci-lint $@

.PHONY: golden
golden: ## Write the golden screens and the README's tables of findings and keys again.
	@go test ./ui ./ui/styles -update

.PHONY: pictures
pictures: build lab ## Take the README's pictures again, from the running program on the lab.
	$(call with-lab,go test -tags pictures -run '^TestPictures' -v .)

.PHONY: clean
clean: ## Remove what was built here; 'make lab-clean' removes the lab.
	@rm -rf bin dist
