# Everything runs in .venv, made on the first call with whichever Python 3.11 or newer is at hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
LOCKING := --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links

.PHONY: demo test test-rest test-all fuzz torture mutants lint gate bench docs site screenshots lock locked audit clean

$(VENV)/installed: pyproject.toml $(wildcard src/diptych/kernels/*.[ch])
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	@# Start-up is twice as slow without byte code, which Python may be told not to write later.
	$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

$(VENV)/fuzz: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --group fuzz
	@touch $@

$(VENV)/supply: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group supply
	@touch $@

$(VENV)/dev-all: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --group dev-all
	@touch $@

$(VENV)/bench: $(VENV)/dev bench/requirements.txt
	$(BIN)/python -m pip install --quiet --requirement bench/requirements.txt
	@touch $@

demo: $(VENV)/installed  ## install, serve the bundled bilingual site on loopback, mine it
	$(BIN)/diptych demo

test: $(VENV)/dev  ## the tests that are quick and need no PyTorch
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow and not needs_torch"

test-rest: $(VENV)/dev-all  ## the tests that are slow or need PyTorch (750 MB of downloads)
	$(BIN)/python -m pytest -q -n $(JOBS) -m "slow or needs_torch"

test-all: test test-rest  ## all tests

fuzz: $(VENV)/dev  ## the tests with Hypothesis, on twenty times as many examples, and each time others
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -q -n $(JOBS) -m "hypothesis and not needs_torch"

torture: $(VENV)/fuzz  ## the long tests of crashes and faults, about two hours (TESTS="crashes" for some of them)
	$(BIN)/python -m tools.torture $(TESTS)

mutants: $(VENV)/dev  ## small faults, one at a time: how many of them do the tests notice? (MODULES="text/* run/warc.py", SEED=1)
	$(BIN)/python tools/mutants.py --jobs $(JOBS) --seed $(or $(SEED),0) $(foreach name,$(MODULES),'$(name)')

lint: $(VENV)/dev  ## format, rules and types
	$(BIN)/ruff format --check src tests bench tools docs
	$(BIN)/ruff check src tests bench tools docs
	$(BIN)/mypy src bench

gate: $(VENV)/installed  ## fail if a figure has dropped, on the demo site and small texts
	$(BIN)/python -m bench.gate

bench: $(VENV)/bench  ## all benchmarks, one after the other (URLs from ../shared/data or DATA=DIR; SITES=DIR for another site builder)
	$(BIN)/python -m bench.tasks.frontier
	$(BIN)/python -m bench.tasks.mine_many --out bench/results/mine_many.json
	$(BIN)/python -m bench.tasks.cluster --sites 20 --out bench/results/cluster.json
	$(BIN)/python -m bench.tasks.open_run --out bench/results/open_run.json
	$(BIN)/python -m bench.tasks.resume --out bench/results/resume.json
	$(BIN)/python -m bench.tasks.crawl_speed $(if $(SITES),--sites $(SITES))
	$(BIN)/python -m bench.tasks.page_pairs $(if $(SITES),--sites $(SITES)) --out bench/results/page_pairs.json
	$(BIN)/python -m bench.tasks.keys
	$(BIN)/python -m bench.tasks.archive_mining $(if $(SITES),--sites $(SITES)) --out bench/results/archive_mining.json
	$(BIN)/python -m bench.tasks.crawl_curves $(if $(SITES),--sites $(SITES)) --out bench/results/crawl_curves.json --svg docs/crawl-curves.svg
	$(BIN)/python -m bench.tasks.crawl_live $(if $(SITES),--sites $(SITES)) --out bench/results/crawl_live.json
	$(BIN)/python -m bench.tasks.many_sites --out bench/results/many_sites.json
	$(BIN)/python -m bench.tasks.loop_block $(if $(SITES),--sites $(SITES)) --out bench/results/loop_block.json
	$(BIN)/python -m bench.tasks.detect $(if $(SITES),--sites $(SITES)) --out bench/results/detect.json
	$(BIN)/python -m bench.tasks.discovery --out bench/results/discovery.json
	$(BIN)/python -m bench.tasks.web_graph --out bench/results/web_graph.json
	$(BIN)/python -m bench.tasks.libraries $(if $(SITES),--sites $(SITES)) --out bench/results/libraries.json
	$(BIN)/python -m bench.tasks.columnar --out bench/results/columnar.json
	$(BIN)/python -m bench.tasks.common_crawl --out bench/results/common_crawl.json
	$(BIN)/python -m bench.tasks.filter --out bench/results/filter.json
	$(BIN)/python -m bench.tasks.n_way $(if $(SITES),--sites $(SITES)) --out bench/results/n_way.json
	$(BIN)/python -m bench.tasks.corpus --out bench/results/corpus.json
	$(BIN)/python -m bench.tasks.provenance $(if $(SITES),--sites $(SITES)) --out bench/results/provenance.json
	$(BIN)/python -m bench.tasks.langid --out bench/results/langid.json
	$(BIN)/python -m bench.tasks.verify
	$(BIN)/python -m bench.tasks.url_lang $(if $(DATA),--data $(DATA)) $(if $(DERIVED),--derived $(DERIVED))
	$(BIN)/python -m bench.tasks.url_pair $(if $(DATA),--data $(DATA)) $(if $(PHRASES),--phrases $(PHRASES))

docs: $(VENV)/installed  ## write the generated parts of docs/ anew; runs all commands in them
	$(BIN)/python docs/generate.py

lock: $(VENV)/supply  ## choose the versions of all libraries anew, with their hashes
	$(BIN)/uv pip compile $(LOCKING) pyproject.toml --group build --output-file requirements.lock
	$(BIN)/uv pip compile $(LOCKING) pyproject.toml --group build --group dev --output-file requirements-dev.lock

locked:  ## install into .venv exactly what requirements-dev.lock names, and nothing whose hash differs
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(VENV)/installed $(VENV)/dev

audit: $(VENV)/supply  ## known vulnerabilities of the locked versions; asks the advisories of the package index
	$(BIN)/pip-audit --disable-pip --require-hashes --strict --requirement requirements-dev.lock

$(VENV)/site: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group site
	@touch $@

site: $(VENV)/site  ## the documentation as a website that works offline, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "see site/index.html"

$(VENV)/screenshots: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group screenshots
	@touch $@

screenshots: $(VENV)/screenshots  ## the picture of the report in README.md; needs Chromium (apt-get install chromium)
	$(BIN)/python tools/screenshots.py

clean:
	rm -rf $(VENV) build dist site diptych-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
