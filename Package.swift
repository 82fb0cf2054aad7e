// swift-tools-version: 6.2
import PackageDescription

// In this order: the products and dependencies of this package, settings, functions that make targets, the targets, and
// special builds. Each target has its folder in Sources or Tests. Docs/architecture.md says which target code belongs
// to, and Tests/HouseTests what each target may import.

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
    ],
    // Exact versions: a new release is used only after a change here (Tests/dependencies.txt has all packages).
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
    cxxLanguageStandard: .cxx17
)

/// The libraries of other packages that targets use, by package.
let libraries = [
    "async-http-client": ["AsyncHTTPClient"],
    "hummingbird": ["Hummingbird"],
    "jwt-kit": ["JWTKit"],
    "swift-argument-parser": ["ArgumentParser"],
    "swift-asn1": ["SwiftASN1"],
    "swift-certificates": ["X509"],
    "swift-crypto": ["Crypto", "CryptoExtras"],
    "swift-log": ["Logging"],
    "swift-nio": ["NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOPosix", "NIOTLS"],
    "swift-nio-extras": ["NIOExtras", "NIOHTTPCompression", "NIOSOCKS"],
    "swift-nio-ssl": ["NIOSSL"],
    "swift-service-lifecycle": ["ServiceLifecycle", "UnixSignals"],
    "swift-subprocess": ["Subprocess"],
]

// MARK: Settings

/// `make fuzz` sets FUZZING: our code then reports to libFuzzer which parts of it an input reaches, and the archive
/// that is linked with libFuzzer is a product (Docs/decisions/fuzzing.md). Code of others does not: its parts would
/// hide ours.
let isFuzzing = Context.environment["FUZZING"] == "1"
let fuzzed: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-enable-testing"])] : []

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

/// For the code that a client waits for; `make build` compiles everything else for size (Docs/decisions/size.md).
let fast: SwiftSetting = .unsafeFlags(["-Xfrontend", "-O"], .when(configuration: .release))

/// For the targets that authc-full links: without the import of the module for regular expressions, which every file
/// has by default. The first use of that module adds 1.2 MB to a static program (Docs/decisions/size.md). Not for
/// AuthClient, AuthConnection and AuthWire, because SwiftPM does not let other packages depend on targets with such
/// settings.
let small: [SwiftSetting] =
    strict + [.unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])]

/// `make sanitize` sets SANITIZE to `address` or `thread` (see the end of this file).
let sanitizer = Context.environment["SANITIZE"].flatMap { $0.isEmpty ? nil : $0 }

/// For code of a process that may make few system calls, and not those of a sanitizer.
let unsanitized: [CSetting] = sanitizer.map { [.unsafeFlags(["-fno-sanitize=\($0)"])] } ?? []

/// Every symbol is looked up at the start, and what that wrote is read-only from then on (ld(1), -z now).
let resolvedAtStart: LinkerSetting = .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])

/// `make build` sets AUTHC_PACKED if glibc applies packed relocations in a static program, which 2.36 does. They make
/// authc smaller and its start faster.
let packedRelocations =
    Context.environment["AUTHC_PACKED"] == "1" ? ["-Xlinker", "--pack-dyn-relocs=relr"] : []

/// `make build` sets AUTHC_PIE: authc is position-independent then, though it is static, which takes lld, as gold cannot link
/// that. It must have no run path, or glibc ends it at its start; SwiftPM adds one unless it gets --disable-local-rpath.
let positionIndependent: [LinkerSetting] =
    Context.environment["AUTHC_PIE"] == "1"
    ? [.unsafeFlags(["-use-ld=lld", "-Xclang-linker", "-static-pie"] + packedRelocations)] : []

/// `make build` sets AUTHC_RUNTIME to a copy of Swift's static libraries whose unreferenced functions the linker leaves
/// out (Docs/decisions/size.md).
let runtime = Context.environment["AUTHC_RUNTIME"].map { ["-resource-dir", $0] } ?? []

/// Release programs without tables for unwinding and names of characters, and with one copy of equal functions
/// (Docs/decisions/size.md).
let compact: LinkerSetting = .unsafeFlags(
    [
        "-use-ld=lld", "-Xlinker", "-O2", "-Xlinker", "--icf=all", "-Xlinker", "-T", "-Xlinker",
        "\(Context.packageDirectory)/Sources/Packaging/linker/without-unwinding.ld", "-Xlinker", "-T", "-Xlinker",
        "\(Context.packageDirectory)/Sources/Packaging/linker/without-character-names.ld",
    ] + runtime, .when(configuration: .release))

/// For programs that glibc loads. With packed relocations, such a program must require GLIBC_ABI_DT_RELR; this option
/// adds that.
/// Nothing looks up symbols in a program, so they need not be exported.
let dynamic: LinkerSetting = .unsafeFlags(
    ["-Xlinker", "--no-export-dynamic"]
        + (packedRelocations.isEmpty ? [] : ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]),
    .when(configuration: .release))

// MARK: Functions that make targets

/// Targets of this package and libraries of others, by their names.
func needed(_ names: [String]) -> [Target.Dependency] {
    names.map { name in
        guard let package = libraries.first(where: { $0.value.contains(name) })?.key else { return .byName(name: name) }
        return .product(name: name, package: package)
    }
}

/// A target that others import, in `Sources/NAME`.
func target(
    _ name: String, _ needs: [String] = [], exclude: [String] = [], resources: [Resource]? = nil,
    settings: [SwiftSetting] = strict, linker: [LinkerSetting]? = nil
) -> Target {
    .target(
        name: name, dependencies: needed(needs), exclude: exclude, resources: resources, swiftSettings: settings,
        linkerSettings: linker)
}

/// A program, in `Sources/NAME` or in another folder.
func program(
    _ name: String, _ needs: [String], in path: String? = nil, resources: [Resource]? = nil,
    settings: [SwiftSetting]? = strict, linker: [LinkerSetting]? = nil
) -> Target {
    .executableTarget(
        name: name, dependencies: needed(needs), path: path, resources: resources, swiftSettings: settings,
        linkerSettings: linker)
}

/// The headers of a library of the system, in `Sources/NAME`.
/// - Parameter package: the name of the Debian package.
func headers(_ name: String, pkgConfig: String, from package: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// What tests import, in `Tests/NAME`.
func support(
    _ name: String, _ needs: [String], exclude: [String] = [], settings: [SwiftSetting] = checked
) -> Target {
    .target(
        name: name, dependencies: needed(needs), path: "Tests/\(name)", exclude: exclude, swiftSettings: settings)
}

/// A target with tests, in `Tests/NAME`.
func suite(_ name: String, _ needs: [String], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: needed(needs), exclude: exclude, swiftSettings: checked)
}

// MARK: Deciding, from values to the agent

package.targets += [
    // The protocol between clients and the agent. Standard library and libc only.
    target("AuthWire"),
    // Values and ports, no I/O.
    target("AuthModel", ["AuthWire", "Crypto"]),
    // Decides: events in, actions out.
    target("AuthMachines", ["AuthModel", "AuthWire"]),
    // Carries out the actions through the ports.
    target("AuthAgent", ["AuthConcurrency", "AuthMachines", "AuthModel", "AuthWire"]),
]

// MARK: Shared code that knows nothing of sessions

package.targets += [
    // System headers that Swift's Glibc module leaves out.
    .systemLibrary(name: "CLinux"),
    // Waiting: a value, a state with listeners, a thread for work that blocks.
    target("AuthConcurrency"),
    // Files and folders that only their owner can read.
    target("AuthFiles", ["AuthWire", "CLinux"], settings: small),
    // Other programs as children of this process.
    target("AuthProcesses", ["AuthFiles", "CLinux"], settings: small),
    // Sockets of this machine that only their owner can use, and who is at the other end.
    target("AuthSockets", ["AuthFiles", "AuthWire", "CLinux", "NIOCore"]),
    // Reads command lines, and prints help and completion scripts (Docs/decisions/command-line.md).
    target("CommandArguments", settings: small),
    // The text of authd.toml: the syntax of TOML with its places, the names of settings, and changes that keep the rest.
    target("AuthConfiguration", ["AuthWire"], settings: small),
]

// MARK: Clients

package.targets += [
    // What a program links to speak to the agent. Standard library and libc only.
    target("AuthClient", ["AuthConnection", "AuthWire"]),
    // The same, blocking the calling thread. A program with only this does not contain Swift's concurrency, 0.6 MB.
    target("AuthConnection", ["AuthWire"]),

    // libauthclient: the same for programs in C and other languages (Docs/decisions/c-library.md).
    .systemLibrary(name: "CAuthClient"),
    target(
        "AuthClientLibrary", ["AuthConnection", "AuthWire", "CAuthClient"],
        exclude: ["archive", "authclient.map", "authclient.pc.in"],
        linker: [
            .unsafeFlags([
                "-static-stdlib", "-Xlinker", "-soname", "-Xlinker", "libauthclient.so.0",
                // After dlclose(3) the end of a thread would still call the Swift runtime.
                "-Xlinker", "-z", "-Xlinker", "nodelete",
                "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/AuthClientLibrary/authclient.map",
            ])
        ]),

    // `authc`: a program of 900 kB for the usual forms of the commands that only read. It starts authc-full for
    // everything else (Docs/decisions/quick-commands.md). Embedded Swift has no library to link, static or not.
    .systemLibrary(name: "CStart"),
    target(
        "QuickCommands", ["CStart"],
        settings: strict + [.enableExperimentalFeature("Embedded"), .unsafeFlags(["-wmo", "-no-static-stdlib"])]),
    program(
        "authc-start", ["QuickCommands"], settings: nil,
        linker: positionIndependent + [
            .unsafeFlags([
                "-enable-experimental-feature", "Embedded", "-no-static-stdlib", "-use-ld=lld", "-Xclang-linker",
                "-static", "-Xclang-linker", "-Wno-unused-command-line-argument",
            ]),
            resolvedAtStart,
        ]),

    // `authc-full`: all commands.
    headers("CYAML", pkgConfig: "yaml-0.1", from: "libyaml-dev"),
    program(
        "authc",
        [
            "AuthConfiguration", "AuthConnection", "AuthFiles", "AuthProcesses", "AuthWire", "CLinux", "CYAML",
            "CommandArguments",
        ],
        resources: [.embedInCode("Settings"), .embedInCode("Starters")], settings: small,
        linker: positionIndependent + [
            .unsafeFlags(["-static-executable"]),
            compact, resolvedAtStart,
        ]),
]

// MARK: Adapters, one for each port

package.targets += [
    // The keyring and the network, through GLib.
    headers("CSecret", pkgConfig: "libsecret-1", from: "libsecret-1-dev"),
    target("GLibRuntime", ["CSecret"], settings: checked),
    target("AuthKeyring", ["AuthConcurrency", "AuthModel", "GLibRuntime", "CSecret"], settings: checked),
    target(
        "AuthNetwork", ["AuthConcurrency", "AuthModel", "AuthWire", "GLibRuntime", "CLinux", "CSecret"],
        settings: checked),

    target(
        "AuthHTTP",
        [
            "AuthFiles", "AuthModel", "AuthWire", "AsyncHTTPClient", "NIOCore", "NIOExtras", "NIOHTTP1",
            "NIOHTTPCompression", "NIOPosix", "NIOSOCKS", "NIOSSL", "NIOTLS",
        ]),
    target("AuthTokens", ["AuthModel", "AuthWire", "Crypto", "CryptoExtras", "JWTKit", "SwiftASN1", "X509"]),

    // toml++, a header-only C++ library (Docs/decisions/toml.md).
    .target(name: "CTOML", cxxSettings: isFuzzing ? [.unsafeFlags(["-fsanitize=fuzzer-no-link"])] : []),
    target(
        "AuthProviders", ["AuthConfiguration", "AuthFiles", "AuthModel", "CTOML"],
        resources: [.embedInCode("Bundled")]),

    headers("CSQLite", pkgConfig: "sqlite3", from: "libsqlite3-dev"),
    target("AuthOutbox", ["AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "CSQLite", "Crypto"]),

    target("AuthSealedFile", ["AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "Crypto", "CryptoExtras"]),
    // Sessions that several hosts share (Docs/decisions/cluster.md).
    target("AuthEtcd", ["AuthConcurrency", "AuthModel", "AuthSealedFile", "AuthWire", "Crypto"]),
]

// MARK: authd

package.targets += [
    headers("CSystemd", pkgConfig: "libsystemd", from: "libsystemd-dev"),
    // Landlock, and a process without Swift that identifies clients (Docs/decisions/confinement.md).
    .target(name: "CSandbox", cSettings: unsanitized),
    // What the programs set for the whole process. Not part of a library, so that no test runs with it by chance.
    .target(name: "CIdle"),
    .target(name: "CWipe"),
    target(
        "AuthDaemon",
        [
            "AuthAgent", "AuthConcurrency", "AuthFiles", "AuthMachines", "AuthModel", "AuthProcesses", "AuthSockets",
            "AuthWire", "CLinux", "CSandbox", "CSystemd", "ArgumentParser", "Logging", "NIOCore", "NIOHTTP1",
            "NIOPosix", "NIOSSL", "ServiceLifecycle", "UnixSignals",
        ],
        settings: strict + [fast]),
    program(
        "authd",
        [
            "AuthAgent", "AuthConcurrency", "AuthDaemon", "AuthEtcd", "AuthFiles", "AuthHTTP", "AuthKeyring",
            "AuthModel", "AuthNetwork", "AuthOutbox", "AuthProviders", "AuthSealedFile", "AuthSockets", "AuthTokens",
            "AuthWire", "CIdle", "CWipe", "GLibRuntime", "Logging", "NIOCore", "NIOPosix", "ServiceLifecycle",
            "UnixSignals",
        ],
        linker: [compact, dynamic, resolvedAtStart]),
]

// MARK: authd-gateway

package.targets += [
    // Forwards requests of other programs to their servers, with the token of a session (Docs/decisions/gateway.md).
    target("AuthGateway", ["AuthMachines", "AuthModel", "AuthWire"]),
    // An HTTP server for the user's own programs (Docs/decisions/proxy.md).
    target(
        "AuthFront",
        ["AuthFiles", "AuthGateway", "AuthModel", "AuthSockets", "AuthWire", "NIOCore", "NIOHTTP1", "NIOPosix"]),
    program(
        "authd-gateway",
        [
            "AuthAgent", "AuthClient", "AuthConcurrency", "AuthFiles", "AuthFront", "AuthGateway", "AuthHTTP",
            "AuthModel", "AuthProviders", "AuthWire", "CIdle", "CWipe", "NIOCore", "NIOHTTP1", "NIOPosix",
        ],
        linker: [compact, dynamic, resolvedAtStart]),
]

// MARK: Backends over real HTTP, for the demo and the tests

package.targets += [
    target(
        "StandInBackends",
        ["Crypto", "CryptoExtras", "Hummingbird", "JWTKit", "Logging", "NIOCore", "NIOPosix", "ServiceLifecycle"]),
    program("stand-in-backends", ["StandInBackends", "ArgumentParser", "Logging", "ServiceLifecycle", "UnixSignals"]),
]

// MARK: What tests need

package.targets += [
    // Folders, child processes, a raw client of the socket.
    support(
        "TestSupport", ["AuthWire", "CLinux"],
        // Keyring services of several kinds, the user who is asked for a password, and the programs of servers from PyPI.
        exclude: ["kwallet", "peers", "person.py", "secret-service.py"]),
    // A clock that a test turns, and a sample provider: what the tests of model, machines and agent share.
    support("AgentTestSupport", ["AuthModel", "AuthWire"]),
    // Hosts with stores in etcd.
    support(
        "EtcdTestSupport",
        ["AuthEtcd", "AuthHTTP", "AuthModel", "AuthSealedFile", "AuthWire", "TestSupport", "NIOPosix"]),
    // The README's program: imports AuthClient and nothing else.
    program("example-client", ["AuthClient"], in: "Tests/Example"),
    // Prints what the network watch reports; the tests run it in separate network namespaces.
    program(
        "network-probe", ["AuthModel", "AuthNetwork", "AuthWire", "GLibRuntime"], in: "Tests/NetworkProbe",
        settings: checked),
]

// MARK: Fuzzing, simulation and trials: each with a program, and tests of what it finds

package.targets += [
    // Gives generated input to every parser of untrusted bytes (Docs/decisions/fuzzing.md).
    support(
        "Fuzzing",
        [
            "AgentTestSupport", "AuthAgent", "AuthConcurrency", "AuthConfiguration", "AuthDaemon", "AuthGateway",
            "AuthMachines", "AuthModel", "AuthNetwork", "AuthProviders", "AuthSealedFile", "AuthSockets", "AuthWire",
            "NIOCore",
        ],
        exclude: ["Corpus", "fuzz"]),
    suite("FuzzingTests", ["Fuzzing", "AuthConcurrency", "AuthModel", "AuthWire"]),

    // Plays the session machine in a world that follows from a seed (Docs/decisions/simulation.md).
    support("Simulation", ["AuthMachines", "AuthModel", "AuthWire"], settings: strict),
    program("simulate", ["Simulation"], in: "Tests/Simulate"),
    suite("SimulationTests", ["Simulation", "AuthModel", "AuthWire"]),

    // Plays hosts with the real agents and the real store of a cluster, on a simulated etcd (the same page).
    support(
        "HostSimulation",
        ["AuthAgent", "AuthConcurrency", "AuthEtcd", "AuthMachines", "AuthModel", "AuthWire", "Simulation"]),
    program("simulate-hosts", ["HostSimulation"], in: "Tests/SimulateHosts", settings: checked),
    suite("HostSimulationTests", ["HostSimulation", "Simulation"]),

    // Kills the real agent around its renewals (Docs/decisions/crash.md).
    support("CrashTrial", ["AuthModel", "AuthWire", "StandInBackends", "TestSupport"]),
    program("crash", ["CrashTrial", "authd", "authc"], in: "Tests/Crash", settings: checked),
    suite("CrashTests", ["CrashTrial"]),

    // Kills, stops and cuts off hosts that share a session, and members of their etcd (Docs/decisions/cluster-trial.md).
    support("ClusterTrial", ["AuthClient", "AuthModel", "AuthWire", "StandInBackends", "TestSupport"]),
    program("cluster-faults", ["ClusterTrial", "authd", "authc"], in: "Tests/ClusterFaults", settings: checked),
    suite("ClusterTests", ["ClusterTrial", "StandInBackends", "TestSupport"]),
]

// MARK: Suites

package.targets += [
    suite("AuthWireTests", ["AuthWire"]),
    suite("AuthModelTests", ["AuthModel", "AgentTestSupport", "AuthTokens", "AuthWire"]),
    suite("AuthMachinesTests", ["AuthMachines", "AgentTestSupport", "AuthModel", "AuthWire"]),
    suite(
        "AuthAgentTests",
        [
            "AuthAgent", "AgentTestSupport", "AuthConcurrency", "AuthMachines", "AuthModel", "AuthProviders",
            "AuthTokens", "AuthWire",
        ]),
    suite("AuthProcessesTests", ["AuthProcesses", "AuthFiles"]),
    suite("CommandArgumentsTests", ["CommandArguments"]),
    suite(
        "AuthClientTests", ["AuthClient", "AuthWire", "TestSupport"],
        // The tests read these in the source tree.
        exclude: ["Transcripts"]),
    suite(
        "AuthKeyringTests",
        [
            "AuthKeyring", "AuthAgent", "AuthModel", "AuthSealedFile", "AuthWire", "EtcdTestSupport", "GLibRuntime",
            "CSecret", "TestSupport", "Subprocess",
        ]),
    suite("AuthNetworkTests", ["AuthNetwork", "AuthModel", "network-probe", "Subprocess"]),
    suite("AuthHTTPTests", ["AuthHTTP", "AuthModel", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "Subprocess"]),
    suite("AuthProvidersTests", ["AuthProviders", "AuthConfiguration", "AuthModel", "Fuzzing", "TestSupport"]),
    suite("AuthOutboxTests", ["AuthOutbox", "AuthAgent", "AuthModel", "AuthWire", "TestSupport"]),
    suite(
        "AuthSealedFileTests",
        ["AuthSealedFile", "AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "TestSupport", "Crypto"]),
    suite(
        "AuthEtcdTests", ["AuthEtcd", "AuthModel", "AuthSealedFile", "AuthWire", "EtcdTestSupport", "TestSupport"]),
    suite(
        "AuthDaemonTests",
        [
            "AuthDaemon", "AgentTestSupport", "AuthAgent", "AuthConcurrency", "AuthFiles", "AuthModel", "AuthOutbox",
            "AuthSealedFile", "AuthSockets", "AuthWire", "CSandbox", "TestSupport", "ArgumentParser", "Logging",
            "NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOPosix", "ServiceLifecycle",
        ]),
    suite("AuthGatewayTests", ["AuthGateway", "AgentTestSupport", "AuthMachines", "AuthModel", "AuthWire"]),
    suite(
        "AuthFrontTests",
        [
            "AuthFiles", "AuthFront", "AuthGateway", "AuthModel", "AuthSockets", "AuthWire", "TestSupport", "NIOCore",
            "NIOPosix",
        ]),
    suite("StandInBackendsTests", ["StandInBackends", "TestSupport", "AsyncHTTPClient"]),
    suite(
        "EndToEndTests",
        ["AuthModel", "AuthClient", "AuthSealedFile", "AuthWire", "StandInBackends", "TestSupport", "Subprocess"],
        exclude: ["Clients/CLibrary"]),
    // The real agent in network namespaces; lab.py runs the servers there.
    suite("RealNetworkTests", ["AuthWire", "TestSupport"], exclude: ["lab.py", "clock-shim.c", "clock-nudge.c"]),
    // The units and sleep on a machine that systemd boots; `boot` shows how.
    suite(
        "BootedRootTests", ["StandInBackends", "TestSupport"],
        exclude: ["boot", "fresh-root", "restart-load.py", "stop-actor.py", "stop-threads.py"]),
    // Rules for the files of this repository.
    suite("HouseTests", ["Subprocess"]),
]

// MARK: Special builds

if isFuzzing {
    package.products.append(.library(name: "Fuzzing", type: .static, targets: ["Fuzzing"]))
}

/// With a sanitizer the package has only these suites, authd, which some of them start, and what they need
/// (Docs/decisions/fuzzing.md). A sanitizer is linked into the process: static programs and Embedded Swift cannot have one.
let sanitized: Set<String> = [
    "AuthWireTests", "AuthModelTests", "AuthMachinesTests", "AuthGatewayTests", "AuthAgentTests", "AuthHTTPTests",
    "AuthFrontTests", "AuthOutboxTests", "AuthSealedFileTests", "AuthProvidersTests", "AuthDaemonTests", "FuzzingTests",
    "SimulationTests", "authd",
]

/// The thread sanitizer does not see GLib's locks, and would report what they protect.
let withoutThreadSanitizer: Set<String> = ["AuthEtcdTests", "AuthKeyringTests", "AuthNetworkTests"]

if let sanitizer {
    var (kept, next) = (Set<String>(), sanitizer == "thread" ? sanitized : sanitized.union(withoutThreadSanitizer))
    while let name = next.popFirst() {
        kept.insert(name)
        for case .byNameItem(let needed, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? []
        where !kept.contains(needed) { next.insert(needed) }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}
