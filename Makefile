# Short names for what is done often. Everything here can be typed by hand as well.

sources = Package.swift Plugins Sources Tests
strict = TRYCK_STRICT=1 swift
unit = --skip IntegrationTests

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 14

build:  ## debug build
	swift build

test:  ## unit to scenario tests
	swift test $(unit)

lint:  ## what is checked of the style
	swift format lint --strict --recursive $(sources)

format:  ## fix what can be fixed
	swift format --in-place --recursive $(sources)

check: lint  ## all that needs no network: before you push
	$(strict) build --build-tests --explicit-target-dependency-import-check error
	$(strict) test --skip-build $(unit)

integration:  ## tests against a broker and virtual controllers
	./deploy/test --filter IntegrationTests

guest: build  ## tryckd on the real kernel, in a virtual machine; ./deploy/test prepares it once
	Tests/Guest/run

homeassistant: build  ## tryckd beside a real Home Assistant, point by point; needs Python 3.13
	Tests/HomeAssistant/run

machine:  ## the package on a machine with systemd, in QEMU, point by point; builds it if there is none
	[ -e .build/package/tryck_*.deb ] || ./deploy/package
	Tests/Machine/run

fuzz: seconds = 60
fuzz:  ## look for octets that break something: make fuzz seconds=60 targets="host json"
	Tests/FuzzTests/run $(seconds) $(targets)

docs:  ## pages of the libraries, below .build/docs
	TRYCK_DOCS=1 swift package --scratch-path .build/docs-build --allow-writing-to-directory .build/docs \
		generate-documentation --output-path .build/docs --enable-experimental-combined-documentation \
		--target BluetoothHost --target Flic --target Simulator

golden:  ## rewrite the golden files; look at the difference as at code
	UPDATE_GOLDEN=1 swift test --filter 'RuleLoaderTests|CommandLineTests|FlicTests'
	git diff --stat

coverage:  ## what the tests reach, as JSON
	swift test --enable-code-coverage $(unit)
	swift test --show-codecov-path

sim: build  ## tryck demo
	.build/debug/tryck demo

.PHONY: help build test lint format check integration guest homeassistant machine fuzz docs golden coverage sim
