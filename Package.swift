// swift-tools-version: 6.2
import PackageDescription

/// `make fuzz` sets FUZZING: our code then reports to libFuzzer which parts of it an input reaches, and the archive
/// that is linked with libFuzzer is a product (Docs/decisions/fuzzing.md). Code of others does not: its parts would
/// hide ours.
let isFuzzing = Context.environment["FUZZING"] == "1"
let fuzzed: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-enable-testing"])] : []
let fuzzProducts: [Product] = isFuzzing ? [.library(name: "Fuzzing", type: .static, targets: ["Fuzzing"])] : []

/// `make sanitize` sets SANITIZE to `address` or `thread`. Then the package has only the suites that run with a sanitizer,
/// authd, which some of them start, and what these need (Docs/decisions/fuzzing.md). A sanitizer is linked into the
/// process: static programs and Embedded Swift cannot have one.
let sanitizer = Context.environment["SANITIZE"].flatMap { $0.isEmpty ? nil : $0 }
let sanitized: Set<String> = [
    "AuthWireTests", "AuthModelTests", "AuthMachinesTests", "AuthGatewayTests", "AuthAgentTests", "AuthHTTPTests",
    "AuthFrontTests", "AuthOutboxTests", "AuthSealedFileTests", "AuthProvidersTests", "AuthDaemonTests", "FuzzingTests",
    "SimulationTests", "authd",
]
/// For code of a process that may make few system calls, and not those of a sanitizer.
let unsanitized: [CSetting] = sanitizer.map { [.unsafeFlags(["-fno-sanitize=\($0)"])] } ?? []

/// What every Swift target of ours is held to (Docs/architecture.md, "Compiler").
let checked: [SwiftSetting] =
    fuzzed + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]

/// Outside the GLib targets and the tests every unsafe operation is marked as one.
let strict: [SwiftSetting] = checked + [.strictMemorySafety()]

/// Every symbol is looked up at the start, and what that wrote is read-only from then on (ld(1), -z now).
let resolvedAtStart = ["-Xlinker", "-z", "-Xlinker", "now"]

/// `make build` sets AUTHC_PACKED if glibc applies packed relocations in a static program, which 2.36 does. They make
/// authc smaller and its start faster.
let packedRelocations =
    Context.environment["AUTHC_PACKED"] == "1" ? ["-Xlinker", "--pack-dyn-relocs=relr"] : []

/// `make build` sets AUTHC_PIE: authc is position-independent then, though it is static, which takes lld, as gold cannot link
/// that. It must have no run path, or glibc ends it at its start; SwiftPM adds one unless it gets --disable-local-rpath.
let positionIndependent: [LinkerSetting] =
    Context.environment["AUTHC_PIE"] == "1"
    ? [.unsafeFlags(["-use-ld=lld", "-Xclang-linker", "-static-pie"] + packedRelocations)] : []

/// Release programs without tables for unwinding, and with packed relocations (Docs/decisions/size.md). A program that
/// glibc loads must require GLIBC_ABI_DT_RELR; this option adds that.
let compact: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "-O2", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-T", "-Xlinker",
            "\(Context.packageDirectory)/Sources/Packaging/linker/without-unwinding.ld",
        ] + (packedRelocations.isEmpty ? [] : ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]),
        .when(configuration: .release))
]

/// A library of another package.
func library(_ name: String, of package: String) -> Target.Dependency { .product(name: name, package: package) }

let argumentParser = library("ArgumentParser", of: "swift-argument-parser")
let asyncHTTPClient = library("AsyncHTTPClient", of: "async-http-client")
let crypto = library("Crypto", of: "swift-crypto")
let cryptoExtras = library("CryptoExtras", of: "swift-crypto")
let hummingbird = library("Hummingbird", of: "hummingbird")
let jwtKit = library("JWTKit", of: "jwt-kit")
let logging = library("Logging", of: "swift-log")
let nioCore = library("NIOCore", of: "swift-nio")
let nioEmbedded = library("NIOEmbedded", of: "swift-nio")
let nioExtras = library("NIOExtras", of: "swift-nio-extras")
let nioHTTP1 = library("NIOHTTP1", of: "swift-nio")
let nioHTTPCompression = library("NIOHTTPCompression", of: "swift-nio-extras")
let nioPosix = library("NIOPosix", of: "swift-nio")
let nioSOCKS = library("NIOSOCKS", of: "swift-nio-extras")
let nioSSL = library("NIOSSL", of: "swift-nio-ssl")
let nioTLS = library("NIOTLS", of: "swift-nio")
let serviceLifecycle = library("ServiceLifecycle", of: "swift-service-lifecycle")
let subprocess = library("Subprocess", of: "swift-subprocess")
let swiftASN1 = library("SwiftASN1", of: "swift-asn1")
let unixSignals = library("UnixSignals", of: "swift-service-lifecycle")
let x509 = library("X509", of: "swift-certificates")

/// A target with tests, in the folder `Tests/NAME`.
func suite(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: checked)
}

let package = Package(
    name: "authd",
    products: [
        .library(name: "AuthClient", targets: ["AuthClient"]),
        .library(name: "authclient", type: .dynamic, targets: ["AuthClientLibrary"]),
        .executable(name: "authd", targets: ["authd"]),
        .executable(name: "authc", targets: ["authc-start"]),
        .executable(name: "authc-full", targets: ["authc"]),
        .executable(name: "authd-gateway", targets: ["authd-gateway"]),
        .executable(name: "stand-in-backends", targets: ["stand-in-backends"]),
    ] + fuzzProducts,
    // Exact versions: a new release of any of them comes in by a change here (Tests/dependencies.txt has all packages).
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // The face: what a program links to speak to the agent. Standard library and libc only.
        .target(name: "AuthWire", swiftSettings: strict),
        .target(name: "AuthClient", dependencies: ["AuthWire"], swiftSettings: strict),
        // libauthclient: the same for programs in C and other languages (Docs/decisions/c-library.md).
        .systemLibrary(name: "CAuthClient"),
        .target(
            name: "AuthClientLibrary", dependencies: ["AuthClient", "AuthWire", "CAuthClient"],
            exclude: ["archive", "authclient.map", "authclient.pc.in"], swiftSettings: strict,
            linkerSettings: [
                .unsafeFlags([
                    "-static-stdlib", "-Xlinker", "-soname", "-Xlinker", "libauthclient.so.0",
                    // After dlclose(3) the end of a thread would still call the Swift runtime.
                    "-Xlinker", "-z", "-Xlinker", "nodelete",
                    "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/AuthClientLibrary/authclient.map",
                ])
            ]
        ),
        // `authc`: a program of 900 kB for the usual forms of the commands that only read. It starts authc-full for
        // everything else (Docs/decisions/quick-commands.md). Embedded Swift has no library to link, static or not.
        .systemLibrary(name: "CStart"),
        .target(
            name: "QuickCommands", dependencies: ["CStart"],
            swiftSettings: strict + [
                .enableExperimentalFeature("Embedded"), .unsafeFlags(["-wmo", "-no-static-stdlib"]),
            ]
        ),
        .executableTarget(
            name: "authc-start", dependencies: ["QuickCommands"],
            linkerSettings: positionIndependent + [
                .unsafeFlags([
                    "-enable-experimental-feature", "Embedded", "-no-static-stdlib", "-use-ld=lld", "-Xclang-linker",
                    "-static", "-Xclang-linker", "-Wno-unused-command-line-argument",
                ]),
                .unsafeFlags(resolvedAtStart),
            ]
        ),

        // All commands.
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .executableTarget(
            name: "authc",
            dependencies: [
                "AuthClient", "AuthConfiguration", "AuthFiles", "AuthProcesses", "AuthWire", "CLinux", "CYAML",
                argumentParser,
            ],
            resources: [.embedInCode("Settings"), .embedInCode("Starters")],
            swiftSettings: strict,
            linkerSettings: positionIndependent + [
                .unsafeFlags(["-static-executable"]),
                .unsafeFlags(resolvedAtStart),
                // What ArgumentParser draws in of Foundation, named because static archives do not name it themselves.
                .linkedLibrary("_FoundationCollections"), .linkedLibrary("_FoundationCShims"),
                .linkedLibrary("swiftSynchronization"),
            ]
        ),

        // Sockets of this machine that only their owner can use, and who is at the other end.
        .target(
            name: "AuthSockets", dependencies: ["AuthFiles", "AuthWire", "CLinux", nioCore], swiftSettings: strict),

        // Waiting: a value, a state with listeners, a thread for work that blocks.
        .target(name: "AuthConcurrency", swiftSettings: strict),

        // Files and folders that only their owner can read.
        .target(name: "AuthFiles", dependencies: ["AuthWire"], swiftSettings: strict),
        // Other programs as children of this process.
        .target(name: "AuthProcesses", dependencies: ["AuthFiles", "CLinux"], swiftSettings: strict),

        // The text of authd.toml: the syntax of TOML with its places, the names of settings, and changes that keep the rest.
        .target(name: "AuthConfiguration", dependencies: ["AuthWire"], swiftSettings: strict),

        // Values and ports, no I/O.
        .target(name: "AuthModel", dependencies: ["AuthWire", crypto], swiftSettings: strict),
        // Deciding: events in, actions out.
        .target(name: "AuthMachines", dependencies: ["AuthModel", "AuthWire"], swiftSettings: strict),
        // Carrying out what was decided, by way of the ports.
        .target(
            name: "AuthAgent", dependencies: ["AuthConcurrency", "AuthMachines", "AuthModel", "AuthWire"],
            swiftSettings: strict),

        // Doing: one adapter a port.
        .systemLibrary(name: "CSecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
        .target(name: "GLibRuntime", dependencies: ["CSecret"], swiftSettings: checked),
        .target(
            name: "AuthKeyring", dependencies: ["AuthConcurrency", "AuthModel", "GLibRuntime", "CSecret"],
            swiftSettings: checked),
        .systemLibrary(name: "CLinux"),
        .target(
            name: "AuthNetwork",
            dependencies: ["AuthConcurrency", "AuthModel", "AuthWire", "GLibRuntime", "CLinux", "CSecret"],
            swiftSettings: checked),
        .target(
            name: "AuthHTTP",
            dependencies: [
                "AuthFiles", "AuthModel", "AuthWire", asyncHTTPClient, nioCore, nioExtras, nioHTTP1, nioHTTPCompression,
                nioPosix, nioSOCKS, nioSSL, nioTLS,
            ],
            swiftSettings: strict),
        // toml++, a header-only C++ library (Docs/decisions/toml.md).
        .target(
            name: "CTOML", cxxSettings: isFuzzing ? [.unsafeFlags(["-fsanitize=fuzzer-no-link"])] : []),
        .target(
            name: "AuthProviders", dependencies: ["AuthConfiguration", "AuthFiles", "AuthModel", "CTOML"],
            resources: [.embedInCode("Bundled")], swiftSettings: strict),

        .target(
            name: "AuthTokens", dependencies: ["AuthModel", "AuthWire", crypto, cryptoExtras, jwtKit, swiftASN1, x509],
            swiftSettings: strict),

        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "AuthOutbox",
            dependencies: ["AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "CSQLite", crypto],
            swiftSettings: strict),

        .target(
            name: "AuthSealedFile",
            dependencies: ["AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", crypto, cryptoExtras],
            swiftSettings: strict),

        // Sessions that several hosts share (Docs/decisions/cluster.md).
        .target(
            name: "AuthEtcd", dependencies: ["AuthConcurrency", "AuthModel", "AuthSealedFile", "AuthWire", crypto],
            swiftSettings: strict),

        // The agent.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        // Landlock, and a process without Swift that identifies clients (Docs/decisions/confinement.md).
        .target(name: "CSandbox", cSettings: unsanitized),
        // Not part of a library, so that no test runs with them by chance.
        .target(name: "CIdle"),
        .target(name: "CWipe"),
        .target(
            name: "AuthDaemon",
            dependencies: [
                "AuthAgent", "AuthConcurrency", "AuthFiles", "AuthMachines", "AuthModel", "AuthProcesses",
                "AuthSockets", "AuthWire", "CLinux", "CSandbox", "CSystemd", argumentParser, logging, nioCore, nioHTTP1,
                nioPosix, nioSSL, serviceLifecycle, unixSignals,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "authd",
            dependencies: [
                "AuthAgent", "AuthConcurrency", "AuthDaemon", "AuthEtcd", "AuthFiles", "AuthHTTP", "AuthKeyring",
                "AuthModel", "AuthNetwork", "AuthOutbox", "AuthProviders", "AuthSealedFile", "AuthSockets",
                "AuthTokens", "AuthWire", "CIdle", "CWipe", "GLibRuntime", logging, nioCore, nioPosix, serviceLifecycle,
                unixSignals,
            ],
            swiftSettings: strict,
            // Nobody looks for symbols in a program; those that are not exported can be left out.
            linkerSettings: compact + [.unsafeFlags(resolvedAtStart)]
        ),

        // What stands between other programs and their servers, with the token of a session (Docs/decisions/gateway.md).
        .target(name: "AuthGateway", dependencies: ["AuthMachines", "AuthModel", "AuthWire"], swiftSettings: strict),
        // An HTTP server for the user's own programs (Docs/decisions/proxy.md).
        .target(
            name: "AuthFront",
            dependencies: [
                "AuthFiles", "AuthGateway", "AuthModel", "AuthSockets", "AuthWire", nioCore, nioHTTP1, nioPosix,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "authd-gateway",
            dependencies: [
                "AuthAgent", "AuthClient", "AuthConcurrency", "AuthFiles", "AuthFront", "AuthGateway", "AuthHTTP",
                "AuthModel", "AuthProviders", "AuthWire", "CIdle", "CWipe", nioCore, nioHTTP1, nioPosix,
            ],
            swiftSettings: strict,
            linkerSettings: compact + [.unsafeFlags(resolvedAtStart)]
        ),

        // The five backends over real HTTP, for the demo and the tests.
        .target(
            name: "StandInBackends",
            dependencies: [crypto, cryptoExtras, hummingbird, jwtKit, logging, nioCore, nioPosix, serviceLifecycle],
            swiftSettings: strict),
        .executableTarget(
            name: "stand-in-backends",
            dependencies: ["StandInBackends", argumentParser, logging, serviceLifecycle, unixSignals],
            swiftSettings: strict),

        // The README's program: imports AuthClient and nothing else.
        .executableTarget(
            name: "example-client", dependencies: ["AuthClient"], path: "Tests/Example", swiftSettings: strict),

        // What several suites need: folders, child processes, a raw client of the socket.
        .target(
            name: "TestSupport", dependencies: ["AuthWire", "CLinux"], path: "Tests/TestSupport",
            // Keyring services of several kinds, the user who is asked for a password, and the programs of servers from PyPI.
            exclude: ["kwallet", "peers", "person.py", "secret-service.py"], swiftSettings: checked),
        // A clock that a test turns, and a sample provider: what the tests of model, machines and agent share.
        .target(
            name: "AgentTestSupport", dependencies: ["AuthModel", "AuthWire"], path: "Tests/AgentTestSupport",
            swiftSettings: checked),
        // What bytes of others must not do to the readers of them (Docs/decisions/fuzzing.md).
        .target(
            name: "Fuzzing",
            dependencies: [
                "AgentTestSupport", "AuthAgent", "AuthConcurrency", "AuthConfiguration", "AuthDaemon", "AuthGateway",
                "AuthMachines", "AuthModel", "AuthNetwork", "AuthProviders", "AuthSealedFile", "AuthSockets",
                "AuthWire", nioCore,
            ],
            path: "Tests/Fuzzing", exclude: ["Corpus", "fuzz"], swiftSettings: checked),
        suite("FuzzingTests", ["Fuzzing", "AuthConcurrency", "AuthModel", "AuthWire"]),
        // Plays the session machine in a world that follows from a seed (Docs/decisions/simulation.md).
        .target(
            name: "Simulation", dependencies: ["AuthMachines", "AuthModel", "AuthWire"], path: "Tests/Simulation",
            swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulate", swiftSettings: strict),
        // Plays hosts with the real agents and the real store of a cluster, on a simulated etcd
        // (Docs/decisions/simulation.md).
        .target(
            name: "HostSimulation",
            dependencies: [
                "AuthAgent", "AuthConcurrency", "AuthEtcd", "AuthMachines", "AuthModel", "AuthWire", "Simulation",
            ],
            path: "Tests/HostSimulation", swiftSettings: checked),
        .executableTarget(
            name: "simulate-hosts", dependencies: ["HostSimulation"], path: "Tests/SimulateHosts",
            swiftSettings: checked),
        // Kills the real agent around its renewals (Docs/decisions/crash.md).
        .target(
            name: "CrashTrial", dependencies: ["AuthModel", "AuthWire", "StandInBackends", "TestSupport"],
            path: "Tests/CrashTrial", swiftSettings: checked),
        .executableTarget(
            name: "crash", dependencies: ["CrashTrial", "authd", "authc"], path: "Tests/Crash", swiftSettings: checked),
        suite("CrashTests", ["CrashTrial"]),
        // Kills, stops and cuts off hosts that share a session, and members of their etcd (Docs/decisions/cluster-trial.md).
        .target(
            name: "ClusterTrial",
            dependencies: ["AuthClient", "AuthModel", "AuthWire", "StandInBackends", "TestSupport"],
            path: "Tests/ClusterTrial", swiftSettings: checked),
        .executableTarget(
            name: "cluster-faults", dependencies: ["ClusterTrial", "authd", "authc"], path: "Tests/ClusterFaults",
            swiftSettings: checked),
        suite("ClusterTests", ["ClusterTrial", "StandInBackends", "TestSupport"]),
        suite("SimulationTests", ["Simulation", "AuthModel", "AuthWire"]),
        suite("HostSimulationTests", ["HostSimulation", "Simulation"]),

        suite("AuthWireTests", ["AuthWire"]),
        suite(
            "AuthClientTests", ["AuthClient", "AuthWire", "TestSupport"],
            // Read where they lie.
            exclude: ["Transcripts"]),
        suite("AuthProcessesTests", ["AuthProcesses", "AuthFiles"]),
        suite("AuthModelTests", ["AuthModel", "AgentTestSupport", "AuthTokens", "AuthWire"]),
        suite("AuthMachinesTests", ["AuthMachines", "AgentTestSupport", "AuthModel", "AuthWire"]),
        suite("AuthGatewayTests", ["AuthGateway", "AgentTestSupport", "AuthMachines", "AuthModel", "AuthWire"]),
        suite(
            "AuthFrontTests",
            [
                "AuthFiles", "AuthFront", "AuthGateway", "AuthModel", "AuthSockets", "AuthWire", "TestSupport", nioCore,
                nioPosix,
            ]),
        suite(
            "AuthAgentTests",
            [
                "AuthAgent", "AgentTestSupport", "AuthConcurrency", "AuthMachines", "AuthModel", "AuthProviders",
                "AuthTokens", "AuthWire",
            ]),
        suite(
            "AuthKeyringTests",
            [
                "AuthKeyring", "AuthAgent", "AuthModel", "AuthSealedFile", "AuthWire", "EtcdTestSupport", "GLibRuntime",
                "CSecret", "TestSupport", subprocess,
            ]),
        suite("AuthNetworkTests", ["AuthNetwork", "AuthModel", "network-probe", subprocess]),
        // Prints what the network watch tells; the tests run it in network namespaces of its own.
        .executableTarget(
            name: "network-probe", dependencies: ["AuthModel", "AuthNetwork", "AuthWire", "GLibRuntime"],
            path: "Tests/NetworkProbe", swiftSettings: checked),
        suite("AuthHTTPTests", ["AuthHTTP", "AuthModel", nioCore, nioHTTP1, nioPosix, nioSSL, subprocess]),
        suite("AuthOutboxTests", ["AuthOutbox", "AuthAgent", "AuthModel", "AuthWire", "TestSupport"]),
        suite(
            "AuthSealedFileTests",
            ["AuthSealedFile", "AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "TestSupport", crypto]),
        // Hosts with stores in etcd.
        .target(
            name: "EtcdTestSupport",
            dependencies: ["AuthEtcd", "AuthHTTP", "AuthModel", "AuthSealedFile", "AuthWire", "TestSupport", nioPosix],
            path: "Tests/EtcdTestSupport", swiftSettings: checked),
        suite(
            "AuthEtcdTests", ["AuthEtcd", "AuthModel", "AuthSealedFile", "AuthWire", "EtcdTestSupport", "TestSupport"]),
        suite("AuthProvidersTests", ["AuthProviders", "AuthConfiguration", "AuthModel", "Fuzzing", "TestSupport"]),
        suite(
            "AuthDaemonTests",
            [
                "AuthDaemon", "AgentTestSupport", "AuthAgent", "AuthConcurrency", "AuthFiles", "AuthModel",
                "AuthOutbox", "AuthSealedFile",
                "AuthSockets", "AuthWire", "CSandbox", "TestSupport", argumentParser, logging, nioCore, nioEmbedded,
                nioHTTP1, nioPosix, serviceLifecycle,
            ]),
        suite("StandInBackendsTests", ["StandInBackends", "TestSupport", asyncHTTPClient]),
        suite(
            "EndToEndTests",
            ["AuthModel", "AuthClient", "AuthSealedFile", "AuthWire", "StandInBackends", "TestSupport", subprocess],
            exclude: ["CLibrary"]),
        // The real agent in network namespaces; lab.py has the servers of those.
        suite("RealNetworkTests", ["AuthWire", "TestSupport"], exclude: ["lab.py", "clock-shim.c", "clock-nudge.c"]),
        // The units and sleep on a machine that systemd boots; boot has how.
        suite(
            "BootedRootTests", ["StandInBackends", "TestSupport"],
            exclude: ["boot", "fresh-root", "restart-load.py", "stop-actor.py", "stop-threads.py"]),
        suite("HouseTests", [subprocess]),
    ],
    cxxLanguageStandard: .cxx17
)

if sanitizer != nil {
    var (kept, next) = (Set<String>(), sanitized)
    while let name = next.popFirst() {
        kept.insert(name)
        for case .byNameItem(let needed, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? []
        where !kept.contains(needed) { next.insert(needed) }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}
