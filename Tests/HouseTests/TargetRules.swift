/// What a target may import, and words that its sources must not contain (Docs/architecture.md, "The targets").
struct TargetRules: Sendable {
    let imports: Set<String>
    var forbiddenWords: [String] = []
    /// Words that only the folder `Ports` of the target may contain: a port may wait, a decider may not.
    var forbiddenOutsidePorts: [String] = []

    /// Part of every Swift installation and of no other package.
    static let standard: Set<String> = ["Swift", "Glibc", "Synchronization"]

    /// Clocks, environment, files, sockets and printing: for adapters, never for deciders.
    static let doing = [
        "clock_gettime", "gettimeofday", "timerfd_create", "ContinuousClock", "SuspendingClock", "Task.sleep",
        "getenv", "secure_getenv", "setenv", "open(", "fopen(", "opendir(", "stat(", "lstat(", "unlink(", "rename(",
        "socket(", "connect(", "bind(", "print(", "fputs(", "exit(",
    ]

    /// Waiting, and shared state.
    static let waiting = ["async", "await", "actor", "Mutex", "AsyncStream"]

    static let table: [String: TargetRules] = [
        "AuthWire": TargetRules(
            imports: standard,
            forbiddenWords: ["async", "await", "actor", "socket(", "connect(", "clock_gettime", "getenv", "print("]),
        "AuthConnection": TargetRules(imports: standard.union(["AuthWire"])),
        "AuthClient": TargetRules(imports: standard.union(["AuthConnection", "AuthWire"])),
        "AuthClientLibrary": TargetRules(imports: standard.union(["AuthConnection", "AuthWire", "CAuthClient"])),
        "QuickCommands": TargetRules(imports: ["CStart"]),
        "authc": TargetRules(
            imports: standard.union([
                "AuthConfiguration", "AuthConnection", "AuthFiles", "AuthProcesses", "AuthWire", "CLinux", "CYAML",
                "CommandArguments",
            ])),
        "CommandArguments": TargetRules(imports: [], forbiddenWords: doing + waiting),
        "AuthConfiguration": TargetRules(imports: standard.union(["AuthWire"]), forbiddenWords: doing + waiting),
        "AuthConcurrency": TargetRules(imports: standard, forbiddenWords: doing),
        "AuthFiles": TargetRules(imports: standard.union(["AuthWire", "CLinux"]), forbiddenWords: waiting),
        "AuthProcesses": TargetRules(imports: standard.union(["AuthFiles", "CLinux"]), forbiddenWords: waiting),
        "AuthSockets": TargetRules(
            imports: standard.union(["AuthFiles", "AuthWire", "CLinux", "NIOCore"]), forbiddenWords: waiting),
        "AuthModel": TargetRules(
            imports: standard.union(["AuthWire", "Crypto"]), forbiddenWords: doing, forbiddenOutsidePorts: waiting),
        "AuthMachines": TargetRules(
            imports: standard.union(["AuthModel", "AuthWire"]), forbiddenWords: doing, forbiddenOutsidePorts: waiting),
        "AuthAgent": TargetRules(
            imports: standard.union(["AuthConcurrency", "AuthMachines", "AuthModel", "AuthWire"]), forbiddenWords: doing
        ),
        "GLibRuntime": TargetRules(
            imports: standard.union(["CSecret"]),
            forbiddenWords: ["OAuth", "oauth", "bearer", "token", "Token"]),
        "AuthKeyring": TargetRules(
            imports: standard.union(["AuthConcurrency", "AuthModel", "AuthWire", "CSecret", "GLibRuntime"])),
        "AuthNetwork": TargetRules(
            imports: standard.union(["AuthConcurrency", "AuthModel", "AuthWire", "CLinux", "CSecret", "GLibRuntime"])),
        "AuthHTTP": TargetRules(
            imports: standard.union([
                "AsyncHTTPClient", "AuthFiles", "AuthModel", "AuthWire", "FoundationEssentials", "NIOCore", "NIOExtras",
                "NIOHTTP1", "NIOHTTPCompression", "NIOPosix", "NIOSOCKS", "NIOSSL", "NIOTLS",
            ])),
        "AuthTokens": TargetRules(
            imports: standard.union([
                "AuthModel", "AuthWire", "Crypto", "CryptoExtras", "FoundationEssentials", "JWTKit", "SwiftASN1",
                "X509",
            ])),
        "AuthSealedFile": TargetRules(
            imports: standard.union([
                "AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "Crypto", "CryptoExtras",
                "FoundationEssentials",
            ])),
        "AuthEtcd": TargetRules(
            imports: standard.union([
                "AuthConcurrency", "AuthModel", "AuthSealedFile", "AuthWire", "Crypto", "FoundationEssentials",
            ])),
        "AuthOutbox": TargetRules(
            imports: standard.union([
                "AuthConcurrency", "AuthFiles", "AuthModel", "AuthWire", "CSQLite", "Crypto", "FoundationEssentials",
            ])),
        "AuthProviders": TargetRules(
            imports: standard.union(["AuthConfiguration", "AuthFiles", "AuthModel", "AuthWire", "CTOML"])),
        "AuthGateway": TargetRules(
            imports: standard.union(["AuthMachines", "AuthModel", "AuthWire"]), forbiddenWords: doing + waiting),
        "AuthFront": TargetRules(
            imports: standard.union([
                "AuthFiles", "AuthGateway", "AuthModel", "AuthSockets", "AuthWire", "NIOCore", "NIOHTTP1", "NIOPosix",
            ]),
            forbiddenWords: ["token", "Token"]),
        "authd-gateway": TargetRules(
            imports: standard.union([
                "AuthAgent", "AuthClient", "AuthConcurrency", "AuthFiles", "AuthFront", "AuthGateway", "AuthHTTP",
                "AuthModel", "AuthProviders", "AuthWire", "NIOCore", "NIOHTTP1", "NIOPosix",
            ])),
        "AuthDaemon": TargetRules(
            imports: standard.union([
                "ArgumentParser", "AuthAgent", "AuthConcurrency", "AuthFiles", "AuthMachines", "AuthModel",
                "AuthProcesses", "AuthSockets", "AuthWire", "CLinux", "CSandbox", "CSystemd", "Logging", "NIOCore",
                "NIOHTTP1", "NIOPosix", "NIOSSL", "ServiceLifecycle", "UnixSignals",
            ])),
        "authd": TargetRules(
            imports: standard.union([
                "AuthAgent", "AuthConcurrency", "AuthDaemon", "AuthEtcd", "AuthFiles", "AuthHTTP", "AuthKeyring",
                "AuthModel", "AuthNetwork", "AuthOutbox", "AuthProviders", "AuthSealedFile", "AuthSockets",
                "AuthTokens",
                "AuthWire", "GLibRuntime",
                "Logging", "NIOCore", "NIOPosix", "ServiceLifecycle", "UnixSignals",
            ])),
        "StandInBackends": TargetRules(
            imports: standard.union([
                "Crypto", "CryptoExtras", "Foundation", "HTTPTypes", "Hummingbird", "HummingbirdCore", "JWTKit",
                "Logging", "NIOCore",
                "NIOPosix",
                "ServiceLifecycle",
            ]),
            forbiddenWords: ["import Testing", "#expect", "#require"]),
        "stand-in-backends": TargetRules(
            imports: standard.union([
                "ArgumentParser", "Logging", "ServiceLifecycle", "StandInBackends", "UnixSignals",
            ])),
    ]

    /// The forbidden words of a file, with their positions.
    func forbidden(in file: TextFile) -> [String] {
        let isPort = file.path.hasPrefix("Sources/\(file.target)/Ports/")
        let words = forbiddenWords + (isPort ? [] : forbiddenOutsidePorts)
        return SourceText(file).code.flatMap { number, line in
            words.filter { SourceText.contains(word: $0, in: line) }.map { "\(file.path):\(number) has \($0)" }
        }
    }

    /// The C targets.
    static let bridges: Set<String> = [
        "CAuthClient", "CIdle", "CLinux", "CSQLite", "CSandbox", "CSecret", "CStart", "CSystemd", "CTOML", "CWipe",
        "CYAML", "authc-start",
    ]
}
