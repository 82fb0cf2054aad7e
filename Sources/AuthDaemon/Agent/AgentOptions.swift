import ArgumentParser
package import AuthWire
import Glibc
package import Logging

/// What the command line of `authd` says.
package struct AgentOptions: Equatable, Sendable {
    package var config: String?
    package var socket: String?
    package var extraSocket: String?
    package var store: StoreKind?
    package var logLevel: Logger.Level?
    package var check = false

    package init(_ arguments: AgentArguments) {
        (config, socket, extraSocket) = (arguments.config, arguments.socket, arguments.extraSocket)
        (store, logLevel, check) = (arguments.store, arguments.logLevel, arguments.check)
    }

    private init() {}

    /// The options of this process. If they are wrong, prints why and ends the process with ``ExitStatus/wrongUsage``.
    package static func ofThisProcess() -> AgentOptions {
        let words = Array(CommandLine.arguments.dropFirst())
        if let options = AgentOptions(plain: words) { return options }
        do {
            return AgentOptions(try AgentArguments.parse(words))
        } catch {
            // Help, or the version.
            guard AgentArguments.exitCode(for: error) != .success else { AgentArguments.exit(withError: error) }
            var text = AgentUsageProblem(error, words).text + "\n"
            // If stderr fails, there is nowhere to report that.
            _ = text.withUTF8 { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
            exit(ExitStatus.wrongUsage.rawValue)
        }
    }

    /// Reads options as units and scripts write them: each once, with its value as the next word. ArgumentParser
    /// inspects its options by reflection, which takes 3 ms of each start.
    /// - Returns: `nil` for any other words, and for wrong values: `AgentArguments` parses those.
    package init?(plain words: some Collection<String>) {
        self.init()
        var rest = Array(words)[...]
        var seen: Set<String> = []
        while let name = rest.popFirst() {
            guard seen.insert(name).inserted else { return nil }
            if name == "--check" {
                check = true
                continue
            }
            guard let value = rest.popFirst(), !value.hasPrefix("-") else { return nil }
            switch name {
            case "--config": config = value
            case "--socket": socket = value
            case "--extra-socket": extraSocket = value
            case "--store":
                guard let kind = StoreKind(rawValue: value) else { return nil }
                store = kind
            case "--log-level":
                guard let level = Logger.Level(rawValue: value) else { return nil }
                logLevel = level
            default: return nil
            }
        }
        for path in [socket, extraSocket].compactMap(\.self) where !AgentArguments.isSocketPath(path) { return nil }
    }
}
