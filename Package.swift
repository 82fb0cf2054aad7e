// swift-tools-version: 6.2
import PackageDescription

/// `make fuzz` sets FUZZING: our code then reports to libFuzzer which parts of it an input reaches, and the archive that is linked
/// with libFuzzer is a product (Docs/decisions/fuzzing.md). Code of others does not: its parts would hide ours.
let isFuzzing = Context.environment["FUZZING"] == "1"
let fuzzed: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-enable-testing"])] : []
let fuzzProducts: [Product] = isFuzzing ? [.library(name: "Fuzzing", type: .static, targets: ["Fuzzing"])] : []

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

/// `make build` sets AUTHC_PACKED if glibc applies packed relocations in a static program, which 2.36 does. They make authc smaller
/// and its start faster.
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
        // `authc`: a program of 700 kB for the plain forms of the most frequent commands. It starts authc-full for
        // everything else (Docs/decisions/static-authc.md). Embedded Swift has no library to link, static or not.
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
                "AuthClient", "AuthConfiguration", "AuthFiles", "AuthWire", "CLinux", "CYAML",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
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
            name: "AuthSockets",
            dependencies: ["AuthFiles", "CLinux", .product(name: "NIOCore", package: "swift-nio")],
            swiftSettings: strict),

        // Waiting: a value, a state with listeners, a thread for work that blocks.
        .target(name: "AuthConcurrency", swiftSettings: strict),

        // Files and folders that only their owner can read.
        .target(name: "AuthFiles", dependencies: ["AuthWire"], swiftSettings: strict),

        // The text of authd.toml: the syntax of TOML with its places, the names of settings, and changes that keep the rest.
        .target(name: "AuthConfiguration", dependencies: ["AuthWire"], swiftSettings: strict),

        // Values and ports, no I/O.
        .target(
            name: "AuthModel", dependencies: ["AuthWire", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),
        // Deciding: events in, actions out.
        .target(name: "AuthMachines", dependencies: ["AuthModel", "AuthWire"], swiftSettings: strict),
        // Carrying out what was decided, by way of the ports.
        .target(
            name: "AuthAgent", dependencies: ["AuthConcurrency", "AuthMachines", "AuthModel", "AuthWire"],
            swiftSettings: strict),

        // Doing: one adapter a port.
        .systemLibrary(
            name: "CSecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
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
                "AuthModel", "AuthWire",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        // toml++, a header-only C++ library (Docs/decisions/toml.md).
        .target(
            name: "CTOML", cxxSettings: isFuzzing ? [.unsafeFlags(["-fsanitize=fuzzer-no-link"])] : []),
        .target(
            name: "AuthProviders",
            dependencies: ["AuthConfiguration", "AuthFiles", "AuthModel", "CTOML"],
            resources: [.embedInCode("Bundled")],
            swiftSettings: strict
        ),

        .target(
            name: "AuthTokens",
            dependencies: [
                "AuthModel", "AuthWire", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict
        ),

        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "AuthOutbox",
            dependencies: [
                "AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "CSQLite",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),

        .target(
            name: "AuthSealedFile",
            dependencies: [
                "AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),

        // Sessions that several hosts share (Docs/decisions/cluster.md).
        .target(
            name: "AuthEtcd",
            dependencies: [
                "AuthConcurrency", "AuthModel", "AuthSealedFile", "AuthWire",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),

        // The agent.
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        // Landlock, and a process without Swift that identifies clients (Docs/decisions/confinement.md).
        .target(name: "CSandbox"),
        // Not part of a library, so that no test runs with them by chance.
        .target(name: "CIdle"),
        .target(name: "CWipe"),
        .target(
            name: "AuthDaemon",
            dependencies: [
                "AuthAgent", "AuthConcurrency", "AuthFiles", "AuthMachines", "AuthModel", "AuthSockets", "AuthWire",
                "CLinux", "CSandbox", "CSystemd",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "authd",
            dependencies: [
                "AuthAgent", "AuthConcurrency", "AuthDaemon", "AuthEtcd", "AuthFiles", "AuthHTTP", "AuthKeyring",
                "AuthModel", "AuthNetwork", "AuthOutbox", "AuthProviders", "AuthSealedFile", "AuthSockets",
                "AuthTokens", "AuthWire",
                "CIdle", "CWipe",
                "GLibRuntime",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict,
            // Nobody looks for symbols in a program; those that are not exported can be left out.
            linkerSettings: compact + [.unsafeFlags(resolvedAtStart)]
        ),

        // What stands between other programs and their servers, with the token of a session (Docs/decisions/gateway.md).
        .target(
            name: "AuthGateway", dependencies: ["AuthMachines", "AuthModel", "AuthWire"], swiftSettings: strict),
        // An HTTP server for the user's own programs (Docs/decisions/proxy.md).
        .target(
            name: "AuthFront",
            dependencies: [
                "AuthFiles", "AuthGateway", "AuthModel", "AuthSockets", "AuthWire",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "authd-gateway",
            dependencies: [
                "AuthAgent", "AuthClient", "AuthConcurrency", "AuthFiles", "AuthFront", "AuthGateway", "AuthHTTP",
                "AuthModel", "AuthProviders", "AuthWire", "CIdle", "CWipe",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict,
            linkerSettings: compact + [.unsafeFlags(resolvedAtStart)]
        ),

        // The five backends over real HTTP, for the demo and the tests.
        .target(
            name: "StandInBackends",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "stand-in-backends",
            dependencies: [
                "StandInBackends", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),

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
                "AgentTestSupport", "AuthAgent", "AuthConfiguration", "AuthDaemon", "AuthGateway", "AuthMachines",
                "AuthModel", "AuthNetwork", "AuthProviders", "AuthSealedFile", "AuthSockets", "AuthWire",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/Fuzzing", exclude: ["Corpus", "fuzz"], swiftSettings: checked),
        .testTarget(name: "FuzzingTests", dependencies: ["Fuzzing", "AuthModel"], swiftSettings: checked),
        // Plays the session machine in a world that follows from a seed (Docs/decisions/simulation.md).
        .target(
            name: "Simulation", dependencies: ["AuthMachines", "AuthModel", "AuthWire"], path: "Tests/Simulation",
            swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulate", swiftSettings: strict),
        // Kills the real agent around its renewals (Docs/decisions/crash.md).
        .target(
            name: "CrashTrial", dependencies: ["AuthModel", "AuthWire", "StandInBackends", "TestSupport"],
            path: "Tests/CrashTrial", swiftSettings: checked),
        .executableTarget(
            name: "crash", dependencies: ["CrashTrial", "authd", "authc"], path: "Tests/Crash", swiftSettings: checked),
        .testTarget(name: "CrashTests", dependencies: ["CrashTrial"], swiftSettings: checked),
        // Kills, stops and cuts off hosts that share a session, and members of their etcd (Docs/decisions/cluster-trial.md).
        .target(
            name: "ClusterTrial",
            dependencies: ["AuthClient", "AuthModel", "AuthWire", "StandInBackends", "TestSupport"],
            path: "Tests/ClusterTrial", swiftSettings: checked),
        .executableTarget(
            name: "cluster-faults", dependencies: ["ClusterTrial", "authd", "authc"], path: "Tests/ClusterFaults",
            swiftSettings: checked),
        .testTarget(
            name: "ClusterTests", dependencies: ["ClusterTrial", "StandInBackends", "TestSupport"],
            swiftSettings: checked),
        .testTarget(
            name: "SimulationTests", dependencies: ["Simulation", "AuthModel", "AuthWire"], swiftSettings: checked),

        .testTarget(name: "AuthWireTests", dependencies: ["AuthWire"], swiftSettings: checked),
        .testTarget(
            name: "AuthClientTests", dependencies: ["AuthClient", "AuthWire", "TestSupport"],
            // Read where they lie.
            exclude: ["Transcripts"], swiftSettings: checked),
        .testTarget(
            name: "AuthModelTests", dependencies: ["AuthModel", "AgentTestSupport", "AuthTokens", "AuthWire"],
            swiftSettings: checked),
        .testTarget(
            name: "AuthMachinesTests", dependencies: ["AuthMachines", "AgentTestSupport", "AuthModel", "AuthWire"],
            swiftSettings: checked),
        .testTarget(
            name: "AuthGatewayTests",
            dependencies: ["AuthGateway", "AgentTestSupport", "AuthMachines", "AuthModel", "AuthWire"],
            swiftSettings: checked),
        .testTarget(
            name: "AuthFrontTests",
            dependencies: [
                "AuthFiles", "AuthFront", "AuthGateway", "AuthModel", "AuthSockets", "AuthWire", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: checked),
        .testTarget(
            name: "AuthAgentTests",
            dependencies: [
                "AuthAgent", "AgentTestSupport", "AuthConcurrency", "AuthMachines", "AuthModel", "AuthProviders",
                "AuthTokens", "AuthWire",
            ],
            swiftSettings: checked),
        .testTarget(
            name: "AuthKeyringTests",
            dependencies: [
                "AuthKeyring", "AuthAgent", "AuthModel", "AuthSealedFile", "AuthWire", "EtcdTestSupport", "GLibRuntime",
                "CSecret", "TestSupport",
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: checked),
        .testTarget(
            name: "AuthNetworkTests",
            dependencies: [
                "AuthNetwork", "AuthModel", "network-probe", .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: checked),
        // Prints what the network watch tells; the tests run it in network namespaces of its own.
        .executableTarget(
            name: "network-probe", dependencies: ["AuthModel", "AuthNetwork", "AuthWire", "GLibRuntime"],
            path: "Tests/NetworkProbe", swiftSettings: checked),
        .testTarget(
            name: "AuthHTTPTests",
            dependencies: [
                "AuthHTTP", "AuthModel", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: checked
        ),
        .testTarget(
            name: "AuthOutboxTests", dependencies: ["AuthOutbox", "AuthAgent", "AuthModel", "AuthWire", "TestSupport"],
            swiftSettings: checked),
        .testTarget(
            name: "AuthSealedFileTests",
            dependencies: [
                "AuthSealedFile", "AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: checked),
        // Hosts with stores in etcd.
        .target(
            name: "EtcdTestSupport",
            dependencies: [
                "AuthEtcd", "AuthHTTP", "AuthModel", "AuthSealedFile", "AuthWire", "TestSupport",
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/EtcdTestSupport", swiftSettings: checked),
        .testTarget(
            name: "AuthEtcdTests",
            dependencies: ["AuthEtcd", "AuthModel", "AuthSealedFile", "AuthWire", "EtcdTestSupport", "TestSupport"],
            swiftSettings: checked),
        .testTarget(
            name: "AuthProvidersTests",
            dependencies: ["AuthProviders", "AuthConfiguration", "AuthModel", "Fuzzing", "TestSupport"],
            swiftSettings: checked),
        .testTarget(
            name: "AuthDaemonTests",
            dependencies: [
                "AuthDaemon", "AuthAgent", "AuthConcurrency", "AuthFiles", "AuthModel", "AuthOutbox", "AuthSealedFile",
                "AuthSockets", "AuthWire", "CSandbox", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: checked
        ),
        .testTarget(
            name: "StandInBackendsTests",
            dependencies: [
                "StandInBackends", "TestSupport", .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            swiftSettings: checked),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "AuthModel", "AuthClient", "AuthSealedFile", "AuthWire", "StandInBackends", "TestSupport",
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            exclude: ["CLibrary"], swiftSettings: checked
        ),
        // The real agent in network namespaces; lab.py has the servers of those.
        .testTarget(
            name: "RealNetworkTests", dependencies: ["AuthWire", "TestSupport"],
            exclude: ["lab.py", "clock-shim.c", "clock-nudge.c"], swiftSettings: checked),
        // The units and sleep on a machine that systemd boots; boot has how.
        .testTarget(
            name: "BootedRootTests", dependencies: ["StandInBackends", "TestSupport"],
            exclude: ["boot", "fresh-root", "restart-load.py", "stop-threads.py"], swiftSettings: checked),
        .testTarget(
            name: "HouseTests",
            dependencies: [.product(name: "Subprocess", package: "swift-subprocess")],
            swiftSettings: checked),
    ],
    cxxLanguageStandard: .cxx17
)
