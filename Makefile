# authd: `make help` lists what there is to make.

PREFIX ?= /usr/local
DESTDIR ?=
# The folder of libauthclient.
LIBDIR ?= $(PREFIX)/lib
SWIFT ?= swift
INSTALL ?= install

# What make simulate plays: so many schedules, from that seed on.
SEEDS ?= 10000000
FIRST ?= 1
# How many schedules of clusters make simulate-clusters plays, from the seed FIRST on.
COUNT ?= 10000
# How many schedules of hosts make simulate-hosts plays, from the seed FIRST on.
HOST_SEEDS ?= 1000
# How often make crash kills the agent, by the seeds from CRASH_FIRST on.
KILLS ?= 300
CRASH_FIRST ?= 1
# How many faults make cluster plays, by the seeds from CLUSTER_FIRST on.
FAULTS ?= 100
CLUSTER_FIRST ?= 1
# How much make streams sends up, and back.
MIB ?= 200
# How long make fuzz runs all its targets together, in seconds, and make fuzz-toml plays, from the seed FIRST on.
SECONDS ?= 60
# What make sanitize runs the suites with, one after the other.
SANITIZERS ?= address thread
# How often make shake runs the suites.
PASSES ?= 3
# What make clients runs, beside make test.
CLIENT_LANGUAGES ?= Go Rust Java
# What make package-managers runs, beside make test.
PACKAGE_PROGRAMS ?= cargo terraform
# How many sessions make growth signs in and out.
SESSIONS ?= 1000
# What make bench-builds builds after each change: build-tests or build.
GOAL ?= build-tests
# What make test plays with the debug build of make simulate.
TEST_SEEDS := 30000

RELEASE := .build/release
SIMULATION := .build/simulation
SBOM := .build/authd.cdx.json
PACKAGES := .build/packages
FRESH_ROOT := .build/fresh-root
FIRST_READER := .build/first-reader
DOCS := .build/docs
SITE := .build/site
SHAKE := .build/shake
FUZZ := .build/fuzz
SANITIZED := .build/sanitized
REPRODUCED := .build/reproduced
BUILDS := .build/builds
# So that the folder of a build does not change its programs (Docs/decisions/packages.md): no debug information, no paths of C
# sources, and no hash of the intermediate code.
REPRODUCIBLE := -debug-info-format none -Xcc -ffile-prefix-map=$(CURDIR)=. -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
# The Swift runtime is linked into the programs, so that they run on machines without Swift. They have no run path: with one,
# the loader would search the program's folder for libraries first.
RELEASE_FLAGS := -c release --static-swift-stdlib --disable-local-rpath $(REPRODUCIBLE)
# Compiles for size, except for targets that Package.swift compiles for speed. Each function and constant has a separate section,
# and none is kept because it is public, so the linker leaves out unreferenced code (Docs/decisions/size.md).
SMALL := -Xswiftc -Osize -Xswiftc -Xllvm -Xswiftc -data-sections \
    $(foreach option,-function-sections -internalize-at-link,-Xswiftc -Xfrontend -Xswiftc $(option))
SCRIPTS := .ci/run Tests/install-packages Tests/install-peers \
    $(wildcard Tests/Demo/demo Tests/Demo/*.bash Tests/Benchmarks/bench Tests/Benchmarks/builds Tests/Benchmarks/proxy-config) \
    Tests/run-suites Tests/check-dependencies Tests/check-packages Tests/check-programs Tests/reproduce Tests/shake Tests/sanitize Tests/Fuzzing/fuzz \
    Tests/BootedRootTests/boot Tests/BootedRootTests/fresh-root Tests/TestSupport/kwallet Sources/AuthClientLibrary/archive \
    $(wildcard Sources/Packaging/tarball Sources/Packaging/site/swift-reference Sources/Packaging/deb/assemble Sources/Packaging/deb/*.p*) Docs/clients/shell/token
SWIFT_SOURCES := Package.swift Sources Tests

PROGRAMS := authd authc
# Called by authc: for all that authc does not do by itself, and for what needs TLS.
COMMANDS := authc-full authd-gateway
# What authc prints by itself: the help and completion scripts of authc-full (Docs/decisions/quick-commands.md). The file must not
# be older than authc-full, and is replaced whole: $(call write-texts,PROGRAMS,FOLDER)
TEXTS := authc-texts
write-texts = $(1)/authc-full ---texts > $(2)/$(TEXTS).new && chmod 644 $(2)/$(TEXTS).new && mv -f $(2)/$(TEXTS).new $(2)/$(TEXTS)
# What make build builds.
PRODUCTS ?= $(PROGRAMS) $(COMMANDS) stand-in-backends
# The programs that make reproduce builds twice; if empty, all that is packaged, and the packages.
REPRODUCE ?=
UNITS := $(wildcard systemd/*.service systemd/*.socket)
CATALOGS := $(wildcard systemd/*.catalog)
# The commented sample that authc config starts with.
SAMPLE := Sources/authc/Settings/authd.toml
PROFILES := $(wildcard Sources/AuthProviders/Bundled/*.toml)
MAN1 := $(wildcard Docs/man/*.1)
MAN3 := $(wildcard Docs/man/*.3)
MAN5 := $(wildcard Docs/man/*.5)
MAN7 := $(wildcard Docs/man/*.7)
# What the README, other pages and messages name.
PAGES := $(wildcard Docs/*.md Docs/*.svg Docs/*/*.md Docs/clients/*/* Docs/*.schema.json)

BIN := $(DESTDIR)$(PREFIX)/bin
LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/authd-session
UNIT_FOLDER := $(DESTDIR)$(PREFIX)/lib/systemd/user
# `journalctl --update-catalog` reads /usr/local/lib too.
CATALOG_FOLDER := $(DESTDIR)$(PREFIX)/lib/systemd/catalog
MAN := $(DESTDIR)$(PREFIX)/share/man
DOC := $(DESTDIR)$(PREFIX)/share/doc/authd-session
LIB := $(DESTDIR)$(LIBDIR)
INCLUDE := $(DESTDIR)$(PREFIX)/include
SONAME := libauthclient.so.0
VERSION = $(shell sed -n 's/.*let version = "\(.*\)"/\1/p' Sources/AuthWire/Release.swift)
# The name, icon and description of authd on the desktop.
DESKTOP := Sources/Packaging/desktop/org.authd.agent
DESKTOP_FOLDER := $(DESTDIR)$(PREFIX)/share/applications
ICON_FOLDER := $(DESTDIR)$(PREFIX)/share/icons/hicolor/scalable/apps
METAINFO_FOLDER := $(DESTDIR)$(PREFIX)/share/metainfo
BUS_SERVICE := $(DESTDIR)$(PREFIX)/share/dbus-1/services/org.authd.service
# polkit reads this folder, and before version 126 no other one: with another PREFIX, copy the file there.
POLKIT_ACTIONS := $(DESTDIR)$(PREFIX)/share/polkit-1/actions/org.authd.policy
# Where each shell looks for them by itself.
BASH_COMPLETION := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/authc
ZSH_COMPLETION := $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_authc
FISH_COMPLETION := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/authc.fish

.PHONY: help build clients package-managers deb check-packages first-reader reproduce tarball docs site library install-library build-tests demo test shake simulate simulate-clusters simulate-hosts crash cluster cluster-scale streams growth fuzz fuzz-toml sanitize lint format install uninstall clean bench bench-builds packages build-packages peers sbom

help:
	@echo 'make build      release programs in $(RELEASE): authd, authc, authc-full, authd-gateway, stand-in-backends'
	@echo 'make library    libauthclient for programs in C; make install-library installs it'
	@echo 'make build-packages  installs what building needs, with apt-get (make packages: also what testing needs)'
	@echo 'make deb        Debian packages of the release programs in $(PACKAGES)'
	@echo 'make check-packages  the same, then lintian, their life in a fresh Debian, the archive, rpm and Nix; needs root and a network'
	@echo 'make first-reader  prepares the trial of Docs/first-reader.md and waits for a reader; needs root and a network'
	@echo 'make reproduce  the Debian packages built in two folders, compared byte for byte (REPRODUCE="authc": only such programs)'
	@echo 'make tarball    the release programs with units, pages and licences as an archive, in $(PACKAGES)'
	@echo 'make docs       the reference of AuthClient, for a web server: $(DOCS)/AuthClient.doccarchive'
	@echo 'make site       README, Docs and man pages as a site to open in a browser: $(SITE)/index.html'
	@echo 'make demo       the main job end to end, with a real keyring and stand-in backends'
	@echo 'make test       every test but those of make clients, package-managers and check-packages; installs what they need'
	@echo 'make shake      every test $(PASSES) times while each core is busy with something else (PASSES=n)'
	@echo 'make simulate   sessions played in $(SEEDS) simulated worlds (SEEDS=n, FIRST=n)'
	@echo 'make simulate-clusters  hosts that share a session in $(COUNT) simulated clusters (COUNT=n, FIRST=n)'
	@echo 'make simulate-hosts  the agents of up to five hosts in $(HOST_SEEDS) simulated clusters, whose etcd is restored (HOST_SEEDS=n, FIRST=n)'
	@echo 'make crash      the real agent killed $(KILLS) times around a renewal (KILLS=n, CRASH_FIRST=n)'
	@echo 'make cluster    five hosts that share a session, interrupted $(FAULTS) times (FAULTS=n, CLUSTER_FIRST=n)'
	@echo 'make cluster-scale  etcd of three members with up to 1,000 hosts and 10,000 users (ETCD=path of another etcd)'
	@echo 'make clients    the examples of Docs/clients in languages that must be installed (CLIENT_LANGUAGES="$(CLIENT_LANGUAGES)")'
	@echo 'make package-managers  recipes of package managers that must be installed (PACKAGE_PROGRAMS="$(PACKAGE_PROGRAMS)")'
	@echo 'make streams    a body of $(MIB) MiB up and down through the real agent, whole, in memory that does not grow with it (MIB=n)'
	@echo 'make growth     $(SESSIONS) sessions signed in and out, and nothing left of them (SESSIONS=n)'
	@echo 'make fuzz       hostile bytes for every reader, chosen by libFuzzer, for $(SECONDS) s in all (SECONDS=n)'
	@echo 'make fuzz-toml  the TOML scanner beside the TOML library for $(SECONDS) s (SECONDS=n, FIRST=n)'
	@echo 'make sanitize   sixteen suites with the address sanitizer, thirteen of them with the thread sanitizer (SANITIZERS="$(SANITIZERS)")'
	@echo 'make bench      start-up, round trips, rates, renewals, disturbances, memory and size beside their budgets and other programs'
	@echo '                (as root; IDLE=n: the idle agent for n s instead of ten minutes; MEASURE="idle scale": only these parts)'
	@echo 'make bench-builds  the seconds that a build takes after a line in each target, and that nothing unchanged is built; writes Docs/builds.md (GOAL=$(GOAL))'
	@echo 'make lint       layout and script checks, and the resolved packages beside Tests/dependencies.txt'
	@echo 'make sbom       the software bill of materials, $(SBOM)'
	@echo 'make format     lays the Swift sources out as make lint wants them'
	@echo 'make install    programs, user units, man pages, documentation, completions, sample profiles (PREFIX=$(PREFIX) DESTDIR=$(DESTDIR))'
	@echo 'make uninstall  removes what make install put there'
	@echo 'make clean      removes what was built'

# If every package in a list is installed, these need neither root nor a network.
packages: build-packages
	@Tests/install-packages

build-packages:
	@Tests/install-packages Tests/build-packages.txt
	@command -v $(SWIFT) >/dev/null || { echo 'No swift on the PATH: get Swift 6.2 or newer from https://swift.org/install' >&2; exit 1; }

# If every peer of Tests/python-packages.txt is installed, this needs no network.
peers: packages
	@Tests/install-peers

define build-product
$(SWIFT) build $(RELEASE_FLAGS) $(SMALL) --product $(1)

endef

# For Package.swift.
build: export AUTHC_PIE := 1
build: export AUTHC_PACKED = $(shell getconf GNU_LIBC_VERSION | awk '{ split($$2, v, "."); print (v[1] > 2 || v[2] >= 36) }')
build: export AUTHC_RUNTIME := $(CURDIR)/.build/runtime
build:
	Sources/Packaging/linker/unretained $(SWIFT) $(AUTHC_RUNTIME)
	$(foreach product,$(PRODUCTS),$(call build-product,$(product)))
	$(if $(filter authc-full,$(PRODUCTS)),$(call write-texts,$(RELEASE),$(RELEASE)))
	Tests/check-programs $(addprefix $(RELEASE)/,$(filter $(PROGRAMS) $(COMMANDS),$(PRODUCTS)))

# Two release builds, compared byte for byte.
reproduce: packages
	Tests/reproduce $(SWIFT) $(REPRODUCED) $(REPRODUCE)

# libauthclient, shared and static, with the Swift runtime in it (Docs/decisions/c-library.md).
library:
	$(SWIFT) build -c release --disable-local-rpath $(REPRODUCIBLE) $(SMALL) --product authclient
	Sources/AuthClientLibrary/archive $(RELEASE) $(RELEASE)/libauthclient.a

# Neither root nor a network is needed (Docs/decisions/packages.md).
deb: build library
	rm -rf $(PACKAGES)
	Sources/Packaging/deb/assemble $(RELEASE) $(PACKAGES)

# In make test: what the packages contain, and that two assemblies are equal, with small programs in place of the real ones; and
# for root the life of packages with debug programs.
check-packages: packages deb
	Tests/install-packages Tests/packaging-packages.txt
	Tests/check-packages $(SWIFT) $(RELEASE) $(PACKAGES) $(FRESH_ROOT) Docs/package-check.md

# Needs a reader, and root (Docs/first-reader.md).
first-reader: packages deb
	Tests/install-packages Tests/packaging-packages.txt
	Tests/BootedRootTests/fresh-root $(FRESH_ROOT) $(PACKAGES)/*.deb
	$(SWIFT) build --build-tests
	rm -rf $(FIRST_READER)
	mkdir -p -m 700 $(FIRST_READER)
	FIRST_READER=$(abspath $(FIRST_READER)) PACKAGED_PROGRAMS=$(abspath $(RELEASE)) PACKAGE_ROOT=$(abspath $(FRESH_ROOT)) \
	    $(SWIFT) test --skip-build --disable-xctest --filter 'FirstReaderInstalledTests'

tarball: build
	Sources/Packaging/tarball $(RELEASE) $(PACKAGES)

# With docc, which comes with Swift, from the debug build, which is there after make test.
docs:
	$(SWIFT) build --target AuthClient
	Sources/Packaging/site/swift-reference "$$($(SWIFT) build --show-bin-path)/Modules" $(DOCS)/AuthClient.doccarchive

# Opened from a file as from a web server (Docs/decisions/site.md).
site: packages
	Sources/Packaging/site/build $(SITE)

demo: packages build
	Tests/Demo/demo $(RELEASE)

# The suites start real daemons, keyrings and servers: one after the other, so that two cores are enough for each.
# What only the tests need comes over the network, and is installed while the build runs.
test: build-packages
	$(MAKE) --no-print-directory --jobs=2 peers build-tests
	Tests/run-suites $(SWIFT) .build/debug/simulate $(TEST_SEEDS)

build-tests:
	$(SWIFT) build --build-tests
	$(call write-texts,.build/debug,.build/debug)

# Tests that depend on the speed of the machine fail here. Without simulate beside the suites: the cores are busy already.
shake: packages peers
	$(SWIFT) build --build-tests
	Tests/shake $(SWIFT) $(PASSES) $(SHAKE)

# Optimised: 10,000 schedules take some 10 s of one core then. Built in a separate folder: as
# long as the suites run, SwiftPM lets nobody build in theirs.
simulate:
	$(SWIFT) build $(RELEASE_FLAGS) --scratch-path $(SIMULATION) --product simulate
	$(SIMULATION)/release/simulate $(SEEDS) $(FIRST)

# Only the world that make simulate plays for every tenth seed.
simulate-clusters:
	$(SWIFT) build $(RELEASE_FLAGS) --scratch-path $(SIMULATION) --product simulate
	$(SIMULATION)/release/simulate --clusters $(COUNT) $(FIRST)

# Contains the agent and its store; built in the same folder as make simulate. The variable fixes the order of sets and
# dictionaries, so that a seed always has the same result.
simulate-hosts:
	$(SWIFT) build $(RELEASE_FLAGS) --scratch-path $(SIMULATION) --product simulate-hosts
	SWIFT_DETERMINISTIC_HASHING=1 $(SIMULATION)/release/simulate-hosts $(HOST_SEEDS) $(FIRST)

# The debug build: it is there after make test, and its slower renewals are more moments to be killed at.
crash: packages
	$(SWIFT) build --product authc
	$(SWIFT) build --product crash
	.build/debug/crash $(KILLS) $(CRASH_FIRST)

# The debug build, as for make crash. As root, or where users may create network namespaces. With 100 faults or more, and no
# broken rule, it writes a section of Docs/cluster.md.
cluster: packages
	$(SWIFT) build --product authc
	$(SWIFT) build --product cluster-faults
	.build/debug/cluster-faults $(FAULTS) $(CLUSTER_FIRST) Docs/cluster.md

# Takes about half an hour. Docs/cluster.md has the result.
cluster-scale: packages
	Tests/ClusterScale/cluster-scale $(if $(ETCD),--etcd $(ETCD))

# make test runs those that need no compiler.
clients: packages
	$(SWIFT) build --build-tests
	CLIENT_LANGUAGES='$(CLIENT_LANGUAGES)' $(SWIFT) test --skip-build --disable-xctest --filter 'ClientExampleInstalledTests'

# make test runs pip, uv and npm.
package-managers: packages
	$(SWIFT) build --build-tests
	PACKAGE_PROGRAMS='$(PACKAGE_PROGRAMS)' $(SWIFT) test --skip-build --disable-xctest --filter 'PackageProgramInstalledTests'

streams: packages
	$(SWIFT) build --build-tests
	STREAM_MIB=$(MIB) $(SWIFT) test --skip-build --disable-xctest --filter 'StreamTests/longTransfers'

growth: packages
	$(SWIFT) build --build-tests
	GROWTH_SESSIONS=$(SESSIONS) $(SWIFT) test --skip-build --disable-xctest --filter 'GrowthTests'

# Built apart, as it is built with libFuzzer (Docs/decisions/fuzzing.md).
fuzz: packages
	Tests/Fuzzing/fuzz $(SWIFT) $(SECONDS) $(FUZZ)

fuzz-toml: packages
	$(SWIFT) build --build-tests
	FUZZ_SECONDS=$(SECONDS) FUZZ_FIRST=$(FIRST) $(SWIFT) test --skip-build --disable-xctest --filter 'TOMLFuzzTests'

# Each sanitizer has a separate build: Package.swift has only these suites then (Docs/decisions/fuzzing.md).
sanitize: packages peers
	Tests/sanitize $(SWIFT) $(SANITIZED) $(SANITIZERS)

bench: packages build
	Tests/install-packages Tests/benchmark-packages.txt
	Tests/Benchmarks/bench $(RELEASE) Docs/performance.md

# In a copy of the clone, for an hour or more. Writes Docs/builds.md.
bench-builds: packages peers
	BUILDS_PAGE=Docs/builds.md Tests/Benchmarks/builds $(SWIFT) $(BUILDS) $(GOAL)

lint: packages
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	shellcheck --external-sources $(SCRIPTS)
	$(SWIFT) package resolve
	Tests/check-dependencies

# CycloneDX, of the packages in Tests/dependencies.txt, and what products have in them of the system's.
sbom: peers
	Tests/sbom > $(SBOM)
	.build/peers/cyclonedx/bin/python Tests/sbom --check $(SBOM)

format:
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

# Only copies, so that `sudo make install` after `make build` leaves nothing of root's in .build.
install:
	@for program in $(PROGRAMS) $(COMMANDS); do test -x $(RELEASE)/$$program || exit 1; done || { echo 'Nothing to install yet: run make build first.' >&2; exit 1; }
	$(INSTALL) -d $(BIN) $(LIBEXEC) $(UNIT_FOLDER) $(MAN)/man1 $(MAN)/man5 $(MAN)/man7 $(DOC)/providers
	$(INSTALL) -m 755 -s $(addprefix $(RELEASE)/,$(COMMANDS)) $(LIBEXEC)/
	$(call write-texts,$(RELEASE),$(LIBEXEC))
	for program in $(PROGRAMS); do $(INSTALL) -m 755 -s $(RELEASE)/$$program $(BIN)/ || exit 1; done
	for unit in $(UNITS); do \
	    sed 's|^\(Exec[A-Za-z]*=\)[^ ]*/\(auth[cd]\)|\1$(PREFIX)/bin/\2|' $$unit > $(UNIT_FOLDER)/$$(basename $$unit) \
	    && chmod 644 $(UNIT_FOLDER)/$$(basename $$unit) || exit 1; done
	$(INSTALL) -d $(CATALOG_FOLDER)
	$(INSTALL) -m 644 $(CATALOGS) $(CATALOG_FOLDER)/
	$(INSTALL) -D -m 644 Sources/Packaging/dbus/org.authd.service $(BUS_SERVICE)
	$(INSTALL) -D -m 644 Sources/Packaging/polkit/org.authd.policy $(POLKIT_ACTIONS)
	$(INSTALL) -D -m 644 -t $(DESKTOP_FOLDER) $(DESKTOP).desktop
	$(INSTALL) -D -m 644 -t $(ICON_FOLDER) $(DESKTOP).svg
	$(INSTALL) -D -m 644 -t $(METAINFO_FOLDER) $(DESKTOP).metainfo.xml
	$(INSTALL) -m 644 $(MAN1) $(MAN)/man1/
	$(INSTALL) -m 644 $(MAN5) $(MAN)/man5/
	$(INSTALL) -m 644 $(MAN7) $(MAN)/man7/
	$(INSTALL) -m 644 $(PROFILES) $(DOC)/providers/
	$(INSTALL) -m 644 $(SAMPLE) $(DOC)/authd.toml.sample
	$(INSTALL) -m 644 README.md $(DOC)/
	for page in $(PAGES); do $(INSTALL) -D -m 644 $$page $(DOC)/$$page || exit 1; done
	for shell in bash:$(BASH_COMPLETION) zsh:$(ZSH_COMPLETION) fish:$(FISH_COMPLETION); do \
	    file=$${shell#*:}; $(INSTALL) -d $$(dirname $$file) \
	    && $(RELEASE)/authc completion $${shell%%:*} > $$file && chmod 644 $$file || exit 1; done

install-library:
	@test -f $(RELEASE)/libauthclient.a || { echo 'Nothing to install yet: run make library first.' >&2; exit 1; }
	$(INSTALL) -d $(LIB)/pkgconfig $(INCLUDE) $(MAN)/man3
	$(INSTALL) -m 644 -s $(RELEASE)/libauthclient.so $(LIB)/$(SONAME)
	ln -sf $(SONAME) $(LIB)/libauthclient.so
	$(INSTALL) -m 644 $(RELEASE)/libauthclient.a $(LIB)/
	$(INSTALL) -m 644 Sources/CAuthClient/authclient.h $(INCLUDE)/
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' Sources/AuthClientLibrary/authclient.pc.in > $(LIB)/pkgconfig/authclient.pc
	chmod 644 $(LIB)/pkgconfig/authclient.pc
	$(INSTALL) -m 644 $(MAN3) $(MAN)/man3/
	@test -n "$(DESTDIR)" || ldconfig

uninstall:
	rm -f $(addprefix $(LIB)/,$(SONAME) libauthclient.so libauthclient.a pkgconfig/authclient.pc) $(INCLUDE)/authclient.h
	rm -f $(addprefix $(MAN)/man3/,$(notdir $(MAN3)))
	rm -f $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION)
	rm -f $(addprefix $(BIN)/,$(PROGRAMS)) $(addprefix $(LIBEXEC)/,$(COMMANDS) $(TEXTS) $(TEXTS).new) $(addprefix $(UNIT_FOLDER)/,$(notdir $(UNITS)))
	rm -f $(DESKTOP_FOLDER)/$(notdir $(DESKTOP)).desktop $(ICON_FOLDER)/$(notdir $(DESKTOP)).svg \
	    $(METAINFO_FOLDER)/$(notdir $(DESKTOP)).metainfo.xml
	rm -f $(addprefix $(CATALOG_FOLDER)/,$(notdir $(CATALOGS))) $(BUS_SERVICE) $(POLKIT_ACTIONS)
	rm -f $(addprefix $(MAN)/man1/,$(notdir $(MAN1))) $(addprefix $(MAN)/man5/,$(notdir $(MAN5))) \
	    $(addprefix $(MAN)/man7/,$(notdir $(MAN7)))
	rm -f $(addprefix $(DOC)/providers/,$(notdir $(PROFILES))) $(addprefix $(DOC)/,$(PAGES)) $(DOC)/README.md $(DOC)/authd.toml.sample
	for folder in $(LIBEXEC) $(DOC)/providers $(DOC)/Docs/*/* $(DOC)/Docs/* $(DOC)/Docs $(DOC); do test ! -d $$folder || rmdir --ignore-fail-on-non-empty $$folder; done

clean:
	rm -rf .build
