# Every target works in a bare clone: the environment in .venv is made first, where it is absent or out of date.
# PYTHON=/path/to/python names the Python it is made with; without it, tools/python.sh finds one.

python := .venv/bin/python
export NO_MKDOCS_2_WARNING := 1 # a banner about MkDocs 2, which this site does not use

.PHONY: help serve site test check audit-site lock environment evidence-environments pages lint format types chromium

help: ## Show this list.
	@echo "The Pallas kernels course. It needs Python 3.11, 3.12 or 3.13 and make; the rest goes into .venv."
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

serve: pages ## Build the pages, serve the site on this machine and open the first lesson.
	@$(python) tools/serve.py

site: pages ## Build the static site in site/.
	@$(python) tools/static_site.py

test: lint format types chromium evidence-environments check ## Run every check that needs Python and Chromium only.
	@echo "Tests."
	@$(python) -m pytest

check: environment ## Execute the lessons again and compare with what is recorded; writes nothing.
	@$(python) build_figures.py --check

audit-site: site ## Check site/ with the tools that need Node.js and Java.
	@bash tools/audit_site.sh

lock: ## Resolve pyproject.toml into the requirements*.lock; versions in them stay where they still fit.
	@echo "Resolving pyproject.toml into requirements.lock and requirements-tpu.lock."
	@sh tools/python.sh -m venv --clear build/uv
	@build/uv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.13'
	@UV_CUSTOM_COMPILE_COMMAND="make lock" build/uv/bin/uv pip compile --quiet --universal --generate-hashes \
	    --python-version 3.11 --extra site --extra test --group build --output-file requirements.lock pyproject.toml
	@UV_CUSTOM_COMPILE_COMMAND="make lock" build/uv/bin/uv pip compile --quiet --universal --generate-hashes \
	    --python-version 3.11 --extra tpu --constraint requirements.lock --output-file requirements-tpu.lock pyproject.toml

environment:
	@sh tools/python.sh tools/environment.py

evidence-environments: environment # one for each JAX that the lock holds, with the TPU compiler
	@$(python) -m tools.interpreters

pages: environment
	@$(python) build_figures.py

lint: environment
	@echo "Lint."
	@$(python) -m ruff check

format: environment
	@echo "Format."
	@$(python) -m ruff format --check || { echo "next: $(python) -m ruff format"; exit 1; }

types: environment
	@echo "Types (up to a minute the first time)."
	@$(python) -m mypy

chromium: environment
	@$(python) tests/site/chromium.py
