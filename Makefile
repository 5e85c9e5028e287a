# Everything a person or a CI job runs. `make help` lists it.
#
# Without KUBECONFIG a one-node cluster is built and started on this machine (root on Debian, with Go and Rust; see
# tests/cluster). With KUBECONFIG that cluster is used: then LOAD names the command that puts an image archive on its nodes
# (`LOAD='kind load image-archive'`), or HELM_FLAGS says where its nodes pull the images from (`--set image.registry=…`).
# KUBERNETES=1.33.13 takes another version for the cluster of this machine than tests/cluster/versions.env pins.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# Absolute, because tests run in a folder of their own.
cluster := $(CURDIR)/tests/cluster/cluster
bin := $(or $(CLUSTER_BIN),/var/cache/sluice-cluster/bin$(addprefix -,$(KUBERNETES)))
own_kubeconfig := $(or $(CLUSTER_STATE),/var/lib/sluice-cluster)/kubeconfig
own := $(if $(filter-out $(own_kubeconfig),$(KUBECONFIG)),,yes)
export KUBECONFIG := $(or $(KUBECONFIG),$(own_kubeconfig))
LOAD ?= $(if $(own),$(cluster) load)
HELM_FLAGS ?=
NAMESPACE ?= sluice-system
export LOAD HELM_FLAGS NAMESPACE
# What the scripts ask to know whose cluster it is.
export SLUICE_OWN_CLUSTER := $(own)

target := $(shell uname -m)-unknown-linux-gnu
images := target/images
# The profile of controller and plugin: what is released and measured is optimised as a whole, what is only tried is not.
PROFILE ?= tried
bench bench-release release release-check: PROFILE = release
export PROFILE
programs = $(CURDIR)/target/$(target)/$(PROFILE)
gate = $(CURDIR)/target/$(target)/gate
# The cluster's programs, and kubectl-sluice, which kubectl finds on the path.
path := $(PATH)
export PATH = $(bin):$(programs):$(path)
# Static, because the images hold nothing but the program; with a target of its own, so that tests need not link that way.
# Nor does the machine show in them: from whatever folder, and whatever home of cargo, the same bytes come out.
cargo_home := $(or $(CARGO_HOME),$(HOME)/.cargo)
# What has to be mended in a program that runs at any address is packed, or each start reads a table of up to 1.7 MB. Only where the
# C library can read that: 2.36 and later.
packed := $(shell printf '%s\n' 2.36 $$(getconf GNU_LIBC_VERSION | cut -d' ' -f2) | sort -CV && echo -C link-arg=-Wl,-z,pack-relative-relocs)
flags := -C target-feature=+crt-static $(packed) --remap-path-prefix=$(cargo_home)=/cargo
static := RUSTFLAGS='$(flags)' cargo build --locked --target $(target)
# Features of a program that is only tried are those of the whole workspace, as for its tests, or its dependencies are built twice.
features = $(if $(filter tried,$(PROFILE)),--workspace --bin sluice-webhook --bin kubectl-sluice,-p webhook -p cli)
# What tests/cluster/session.sh builds and runs the tests with.
export TESTS_TARGET = $(target)
export TESTS_FLAGS = $(flags)
export TESTS_PROGRAMS = $(programs):$(gate)
# What a release is built for: images and plugin for each kind of Linux machine, and the plugin alone for other systems.
ARCHES ?= amd64 arm64
PLUGINS ?= darwin-amd64 darwin-arm64 windows-amd64
triple_amd64 := x86_64-unknown-linux-gnu
triple_arm64 := aarch64-unknown-linux-gnu
triple_darwin-amd64 := x86_64-apple-darwin
triple_darwin-arm64 := aarch64-apple-darwin
triple_windows-amd64 := x86_64-pc-windows-gnu
labels = {"org.opencontainers.image.title":"$(1)","org.opencontainers.image.licenses":"Apache-2.0"}

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 26

.PHONY: demo
demo: install ## the example shop in a cluster: what waits for what, and when it starts
	@echo '==> making the image of the example'
	@examples/shop/image.sh $(images)/shop.tar
	@$(if $(LOAD),$(LOAD) $(images)/shop.tar)
	@SHELL_NEEDS='export KUBECONFIG=$(KUBECONFIG) PATH=$(bin):$(programs):$$PATH' examples/shop/demo.sh

.PHONY: pictures
# Not part of `make test`: it needs Chromium, and npm for axe-core.
pictures: install ## the pictures of README and docs, out of a run of the example shop
	@examples/shop/image.sh $(images)/shop.tar
	@$(if $(LOAD),$(LOAD) $(images)/shop.tar)
	@PATH=$(bin):$(programs):$$PATH KUBECONFIG=$(KUBECONFIG) tests/pictures/make.py

.PHONY: test
test: ## every test: unit, router, process, chart, then the cluster's; STAGES='units scripts' runs those stages alone
	@tests/run

.PHONY: test-gitops
test-gitops: ## the tests under Argo CD and Flux, in a cluster of this machine
	@tests/cluster/gitops/test.sh

.PHONY: test-operators
test-operators: ## the tests beside cert-manager, Prometheus operator, CloudNativePG, JobSet and Kueue, in a cluster of this machine
	@tests/cluster/operators/test.sh

.PHONY: test-held
test-held: ## the cluster tests about order, while every pod is held before it takes a node
	@tests/cluster/held.sh

.PHONY: steady
steady: ## cluster tests again and again on a busy machine: TESTS='cluster::readiness::stale:: cluster::troubleshooting::told::' TIMES=30
	@tests/cluster/steady.sh

.PHONY: test-published
test-published: cluster ## the first five minutes of README.md, with a release out of a registry, in a cluster of this machine without sluice
	@tests/cluster/published.sh

.PHONY: lint
lint: ## what has to be clean: format, clippy, licences, chart, scripts
	@tests/lint

peer = CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags '-s -w' -o $(bin)

.PHONY: bench
bench: install ## how fast gates open and admission answers, beside peers (25 min; QUICK=1 in 3; PARTS='admission gates' tries only those)
	@mkdir -p $(bin)
	@cd tests/bench/peers && $(peer)/ tool || echo 'bench: vault-k8s is not built' >&2
	@cd tests/differential && $(peer)/kstatus-list ./list || echo 'bench: kstatus-list is not built' >&2
	@cargo run --locked --release -p bench -- target/$(target) $(images) $(if $(QUICK),quick) $(PARTS)

.PHONY: bench-release
# One of the ways holds its pods.
bench-release: HELM_FLAGS += --set holds.enabled=true
bench-release: install ## how long until 30 workloads serve, by eight ways in turns (ROUNDS=5, 10 min each, more with Argo CD; WAYS='nothing lists' tries only those)
	@tests/cluster/mkoci.py $(images)/bench-release.tar localhost/bench-release:dev '[]' $$(command -v kubectl)=/bin/kubectl \
	  /bin/busybox=/bin/busybox $(foreach it,httpd nc sh sleep,ln:/bin/busybox=/bin/$(it))
	@$(if $(LOAD),$(LOAD) $(images)/bench-release.tar)
	@cargo run --locked --release -p bench -- rollout $(images) $(or $(ROUNDS),5) $(WAYS)

.PHONY: bench-compare
bench-compare: ## what is worse beyond noise: BEFORE=FILE AFTER=FILE, each a bench.json of `make bench`
	@cargo run --locked --release -p bench -- compare $(BEFORE) $(AFTER)

.PHONY: bench-plan
bench-plan: ## what five replicas and 100,000 pods would see, by the costs that `make bench` has measured
	@cargo run --locked --release -p bench -- plan $(images)/bench.json

.PHONY: chaos
chaos: install ## what becomes of gates and admission while everything around them breaks; ROWS='killed etcd' tries only those (25 min)
	@cargo run --locked -p chaos -- $(gate)/sluice-gate $(ROWS)

.PHONY: programs
programs:
	@$(static) --profile $(PROFILE) $(features)
	@$(static) --profile gate -p gate

.PHONY: images
images: ## target/images/*.tar, OCI archives made without a container engine, and what each is made of
	@echo '==> building the images (6 to 9 min the first time on two cores, else 2)'
	@$(MAKE) programs
	@mkdir -p $(images)
	@OCI_LABELS='$(call labels,sluice-webhook)' tests/cluster/mkoci.py $(images)/sluice-webhook.tar localhost/sluice-webhook:dev \
	  '["/sluice-webhook"]' $(programs)/sluice-webhook=/sluice-webhook
	@OCI_LABELS='$(call labels,sluice-gate)' tests/cluster/mkoci.py $(images)/sluice-gate.tar localhost/sluice-gate:dev \
	  '["/sluice-gate"]' $(gate)/sluice-gate=/sluice-gate
	@tests/cluster/sbom.py webhook $(target) > $(images)/sluice-webhook.cdx.json
	@tests/cluster/sbom.py gate $(target) > $(images)/sluice-gate.cdx.json
	@ls -l $(images)/*.tar | awk '{ printf "  %s (%.1f MB)\n", $$NF, $$5 / 1e6 }'

.PHONY: release
release: setup ## VERSION=x.y.z: target/release-x.y.z/, all that a release publishes (ARCHES=amd64 PLUGINS= makes it for one system; 10 min for each)
	@release/programs.sh '$(VERSION)' $(ARCHES)
	@release/plugins.sh '$(VERSION)' $(PLUGINS)
	@echo '==> target/release-$(VERSION)'
	@release/release.py '$(VERSION)' target/release-$(VERSION) $(foreach it,$(ARCHES) $(PLUGINS),$(it)=$(triple_$(it)))

.PHONY: release-check
release-check: release ## the same again from another folder, built anew: not one byte may differ
	@release/again.sh '$(VERSION)' '$(ARCHES)' '$(PLUGINS)'

.PHONY: cluster
cluster: ## a one-node cluster on this machine; nothing where KUBECONFIG names another
	@$(if $(own),$(cluster) up,kubectl version >/dev/null && echo "cluster: using $$KUBECONFIG")

.PHONY: cluster-down
cluster-down: ## take that cluster away again
	@$(cluster) down

.PHONY: install
install: cluster images ## sluice into the cluster of KUBECONFIG
	@tests/cluster/install.sh $(images)

.PHONY: dockerfile-check
# Not part of `make test`: it needs buildah, a builder image of more than a gigabyte and a second release build.
dockerfile-check: ## every target of the Dockerfile, with buildah
	@tests/dockerfile-check

.PHONY: docs
docs: ## the documentation as a site in target/book, its links checked; mdBook comes as a wheel, or is built where there is none
	@tests/book/build

.PHONY: setup
setup:
	@tests/cluster/setup.sh
