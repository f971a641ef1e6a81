# Two commands set everything up on a machine with Python (3.11 or newer) and make:
#   make demo    a venv, the package, examples/ imported into a throw-away vault
#   make test    a venv, the package, lint, types, layers, tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo-vault

.PHONY: demo test lint tests soak bench clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py $(DEMO)

test: lint tests

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

tests: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto -m "not soak"

soak: $(VENV)/.installed
	$(BIN)/python -m pytest -n auto -m soak

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/import_speed.py

clean:
	rm -rf $(VENV) $(DEMO)
