# A thin front: each target calls one script that also works by itself. ARGS go through: make demo ARGS=--once
.DEFAULT_GOAL := help
ARGS ?=
PRESET ?= release
PREFIX ?= /usr/local

.PHONY: help deps build quick install images dist reproducible arm64 sandbox demo monitoring test e2e-full faults abuse real network soak sanitize simulate drawn-clusters long-run planted-bugs selectors tsan lint fuzz bench tools cluster-up \
  cluster-status cluster-down clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

deps: ## install the Debian packages that are missing
	@tools/deps

build: deps ## build the programs into build/release (PRESET=dev, asan, tsan)
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

quick: deps ## the command line, operator and extender into build/quick: compiled in a third of the time, not optimised
	cmake --preset quick
	cmake --build --preset quick --target trainyard trainyard-operator trainyard-extender

install: build ## the command line into PREFIX (/usr/local): trainyard and kubectl-trainyard
	cmake --install build/$(PRESET) --prefix $(PREFIX)

images: build ## container images of the programs into build/images, without an engine (ARGS=--training: PyTorch too)
	tools/images $(ARGS)

dist: build ## the command line as an archive for other machines, in build/dist (ARGS="--url https://…": and krew's manifest)
	tools/dist $(ARGS)

reproducible: build ## the programs built once more elsewhere, from nothing: the same bytes (ten minutes and more)
	tests/reproducible

arm64: ## the programs for arm64, and their images beside this machine's; tried here under emulation (twenty minutes)
	tools/deps arm64
	tools/sysroot arm64
	cmake --preset arm64
	cmake --build --preset arm64
	tests/arm64

sandbox: deps ## the examples on a simulated cluster, in one process (ARGS=--once: exit code 0 if all jobs end as they should)
	cmake --preset quick
	cmake --build --preset quick --target trainyard
	build/quick/cli/trainyard sandbox $(ARGS)

# The programs and the cluster's are built side by side: those of the cluster have to be fetched. Real nodes get images,
# and so the programs as shipped.
demo: deps ## a cluster, real jobs, live on the terminal (ARGS=--once: unattended)
	@case " $(ARGS) " in \
	  *" --real "*) tools/deps real && $(MAKE) --no-print-directory build && e2e/demo $(ARGS);; \
	  *) $(MAKE) --no-print-directory -j2 ARGS= quick tools && e2e/demo --bin build/quick $(ARGS);; esac

test: deps ## all tests
	tools/test $(ARGS)

faults: deps ## kills, pauses, lost answers and failing nodes at every point of a gang's life
	tools/test faults

abuse: build ## what a tenant may write to harm others, tried on a real control plane
	e2e/tools/build
	e2e/run abuse $(ARGS)

real: deps ## real nodes: kubelets, containers, the chart, certificates (needs root; ten minutes)
	tools/test real

network: build ## the agent: jobs that share uplinks, a thousand random events, its own use, real nodes (needs root; twenty minutes)
	e2e/network/chaos
	e2e/network/use
	e2e/network/run $(ARGS)
	e2e/network/nodes

soak: build ## an hour of a cluster's life: jobs of all kinds, crashing nodes, killed programs (ARGS="--minutes 5")
	e2e/soak $(ARGS)

monitoring: deps ## alert rules and dashboards against a real Prometheus (two minutes)
	tools/test monitoring

e2e-full: deps ## all that runs against a real control plane: e2e, real nodes, faults, Prometheus, Karpenter (an hour)
	tools/test monitoring e2e foreign real faults

sanitize: deps ## the tests under the address and undefined-behaviour sanitizers
	cmake --preset asan
	cmake --build --preset asan
	ctest --preset asan $(ARGS)

simulate: build ## the operator through drawn lives with faults at every API call (ARGS="--count 10000 --table")
	build/$(PRESET)/tests/simulation/simulate-seeds $(ARGS)

drawn-clusters: deps ## the promises of docs/preemption.md, in drawn clusters with tenants that do their worst (ARGS="--count 10000")
	cmake --preset bench
	cmake --build --preset bench --target scenario_runner
	tests/property/drawn_tenants.py --runner build/bench/tests/scenario/scenario_runner $(ARGS)

long-run: deps ## 70,000 lives and 10,000 drawn clusters, in parts that can be interrupted (two hours)
	cmake --preset bench
	cmake --build --preset bench --target scenario_runner simulate-seeds
	tools/long-run $(ARGS)

selectors: deps ## selectors of devices: our answers against those of Kubernetes' library (needs Go; ten minutes the first time)
	cmake --preset dev
	cmake --build --preset dev --target compare-selectors
	e2e/conformance/selectors/run build/dev/tests/selectors/compare-selectors $(ARGS)

planted-bugs: deps ## known bugs, planted one at a time: each must be found (ten to twenty minutes)
	tests/simulation/planted/find $(ARGS)

tsan: deps ## the core's tests and a hundred simulated lives under the thread sanitizer
	cmake --preset tsan
	cmake --build --preset tsan --target core_tests simulate-seeds
	build/tsan/tests/unit/core/core_tests
	build/tsan/tests/simulation/simulate-seeds --count 100 $(ARGS)

lint: deps ## formatting and static checks
	tools/lint $(ARGS)

fuzz: deps ## a million generated inputs for every parser (half an hour; ARGS="pod job --runs 50000")
	tools/fuzz $(ARGS)

bench: deps ## the benchmarks
	tools/bench $(ARGS)

tools: ## build etcd, Kubernetes, kwok and helm for the tests' clusters (minutes, once; ARGS=--real: kubelet, CoreDNS too)
	e2e/tools/build $(ARGS)

cluster-up: build ## start a Kubernetes control plane with Trainyard (ARGS="--kwok 100", ARGS="--real 2")
	e2e/cluster up $(ARGS)

cluster-status: ## show its processes and nodes
	e2e/cluster status $(ARGS)

cluster-down: ## end it
	e2e/cluster down $(ARGS)

clean: ## remove the build directories
	rm -rf build
