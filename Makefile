# Short names for frequent commands.

sources = Package.swift Plugins Sources Tests
strict = TRYCK_STRICT=1 swift
unit = --skip IntegrationTests

help:  ## print this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 14

build:  ## build for debugging
	swift build

quick:  ## run the tests of the deciding modules: no disk, no network, no random stories
	swift test --skip '^(IntegrationTests|PlatformTests|EdgesTests|SetupTests)[.]' \
		--skip 'StoryTests|StoryReplayTests|PowerCutTests|DiskFaultTests|DamagedStoreTests'

test:  ## run all tests except the integration tests
	swift test $(unit)

lint:  ## check the style
	swift format lint --strict --recursive $(sources)

format:  ## correct the style
	swift format --in-place --recursive $(sources)

check: lint  ## run before you push: everything that needs no network
	$(strict) build --build-tests --explicit-target-dependency-import-check error
	$(strict) test --skip-build $(unit)

integration:  ## run the tests with a broker and virtual controllers
	./deploy/test --filter IntegrationTests

guest: build  ## run tryckd on a real kernel, in a virtual machine; ./deploy/test prepares it
	Tests/Guest/run

homeassistant: build  ## run tryckd with a real Home Assistant; needs Python 3.13
	Tests/HomeAssistant/run

machine:  ## install the package on a machine with systemd, in QEMU; builds the package if needed
	[ -e .build/package/tryck_*.deb ] || ./deploy/package
	Tests/Machine/run

fuzz: seconds = 60
fuzz:  ## fuzz the parsers: make fuzz seconds=60 targets="host json"
	Tests/FuzzTests/run $(seconds) $(targets)

docs:  ## build the documentation of the libraries in .build/docs
	TRYCK_DOCS=1 swift package --scratch-path .build/docs-build --allow-writing-to-directory .build/docs \
		generate-documentation --output-path .build/docs --enable-experimental-combined-documentation \
		--target BluetoothHost --target Flic --target Simulator

golden:  ## rewrite the golden files; review the difference like code
	UPDATE_GOLDEN=1 swift test --filter 'RuleLoaderTests|CommandLineTests|FlicTests'
	git diff --stat

coverage:  ## measure the coverage of the tests, as JSON
	swift test --enable-code-coverage $(unit)
	swift test --show-codecov-path

sim: build  ## run tryck demo
	.build/debug/tryck demo

.PHONY: help build quick test lint format check integration guest homeassistant machine fuzz docs golden coverage sim
