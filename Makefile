# `make demo` and `make test` need Python 3.11+ with pip, and nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Tests start thousands of programs: each is compiled once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test checks lint types layers prepared unit test-slow faults promises mutation bench docs site clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.core  ## install, index an example workspace, ask it five questions
	$(BIN)/python examples/demo.py

test: checks unit  ## everything that must be green

checks: $(VENV)/.dev
	$(MAKE) --jobs=2 --output-sync=target lint types layers prepared

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python docs/check_words.py

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

# Has pytest prepare the files of tests, while mypy needs one core, for all processes of `unit`. Whatever is wrong with
# one of them is reported there.
prepared: $(VENV)/.dev
	-$(BIN)/python -m pytest --collect-only -q > /dev/null

# A file of tests at a time, those that take the longest first (tests/conftest.py), in two processes more than there
# are cores: tests that wait for a program or a lock leave their core to others. Workers do not inherit -X, so the
# variable says it.
unit: $(VENV)/.dev
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest -n $$(($$(getconf _NPROCESSORS_ONLN) + 2)) --dist loadfile --no-loadscope-reorder

test-slow: $(VENV)/.dev  ## the exhaustive runs as well
	$(BIN)/python -X warn_default_encoding -m pytest -m "slow or not slow" --hypothesis-profile thorough

faults: $(VENV)/.dev  ## the exhaustive fault runs
	FAULTS=full $(BIN)/python -X warn_default_encoding -m pytest tests/faults tests/*/*_faults.py tests/files/test_odd_files.py --timeout 3600

# A failed promise is a result too, so the page is written before the tests' verdict ends this.
promises: $(VENV)/.dev  ## run the tests of the promises and write docs/promises.md
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest -m "promise and not slow" -n $$(getconf _NPROCESSORS_ONLN) \
	  --dist loadfile --promises=bench/results/promises.json; code=$$?; \
	  $(BIN)/python docs/write_promises.py docs/promises.md && exit $$code

mutation: $(VENV)/.dev  ## put faults into what the promises rest on, and count those that tests notice
	$(BIN)/python -m bench.mutation

bench: $(VENV)/.dev  ## compare with peers and draw our cost curves; figures go to bench/results/
	$(BIN)/python -m bench.peers
	$(BIN)/python -m bench.scale

docs: $(VENV)/.dev  ## write again what is generated in docs/ and integrations/
	$(BIN)/python docs/draw_house.py docs/house.svg
	$(BIN)/python docs/draw_session.py docs/pictures/session.svg
	$(BIN)/python docs/draw_search.py docs/pictures/search-way.svg
	$(BIN)/python docs/draw_search.py docs/pictures/search-pieces.svg
	$(BIN)/python docs/draw_search.py docs/pictures/search-evidence.svg
	$(BIN)/python docs/write_settings.py docs/settings.md
	$(BIN)/python docs/write_commands.py docs/commands.md
	$(BIN)/python docs/write_promises.py docs/promises.md
	$(BIN)/python docs/write_tools.py docs/tools.md
	$(BIN)/python docs/write_api.py docs/api.md
	$(BIN)/python docs/write_errors.py docs/errors.md
	$(BIN)/python docs/write_tools.py integrations/opencode/memlines/tools.json

site: $(VENV)/.dev  ## build the documentation as a site, in site/; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:  ## remove the environment, caches and the demo workspace
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-workspace

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.core
