import AuthConnection
import AuthConfiguration
import AuthWire
import Glibc

/// `doctor --report`: what a bug report needs, without what belongs to the user.
struct BugReport {
    private static let bundled: Set = ["anonymous-wall", "app-template", "aws-lambda", "envelope", "fork-in-the-road"]
    private static let longest = 4096

    let findings: [Finding]
    let info: AgentInfo?
    let network: NetworkStatus?
    let sessions: [SessionStatus]

    /// Made of this program's words, numbers and the protocol's words only: in a message, anything may be the user's.
    var text: String {
        var lines = [
            "authc \(Release.version)" + (info.map { ", authd \($0.version), protocol \($0.protocolVersion)" } ?? "")
        ]
        lines.append("system: \(Self.system)")
        if let info { lines.append("store: \(info.store.kind.rawValue), \(info.store.state.rawValue)") }
        lines.append("settings: \(Self.settings)")
        if let network {
            lines.append("network: \(network.state.rawValue)")
            for (name, kind) in network.providers.sorted(by: { $0.key < $1.key }) {
                lines.append("\(provider(name)): \(Self.known(kind) ? kind : "other")")
            }
            lines += network.clockSkews.keys.sorted().map { "\(provider($0)): its clock differs" }
        }
        for (index, status) in sessions.enumerated() {
            var words = ["session: session-\(index + 1)", provider(status.provider), state(status)]
            if !status.renews { words.append("not renewed") }
            if status.lastError != nil { words.append("the last renewal failed") }
            if status.unsaved { words.append("not saved") }
            lines.append(words.joined(separator: ", "))
        }
        lines += findings.flatMap { finding in
            let start = "\(finding.level.rawValue): \(finding.subject.rawValue)"
            return switch finding.report {
            case .nothing: [start]
            case .words(let words): ["\(start): \(words)"]
            case .problems(let problems): ReportedProblems(problems).lines.map { "\(start): \($0)" }
            }
        }
        return lines.map { Visible.line($0) }.joined(separator: "\n")
    }

    private func state(_ status: SessionStatus) -> String {
        guard let cause = status.cause, cause != status.state.rawValue, Self.known(cause) else {
            return StatusCard.stateName(status.state)
        }
        return StatusCard.stateText(status)
    }

    /// The protocol's own words.
    private static func known(_ word: String) -> Bool {
        word == NetworkStatus.reachable || ErrorKind(rawValue: word) != nil
    }

    /// A bundled provider by its name, another one by a number.
    private func provider(_ name: String) -> String {
        guard !Self.bundled.contains(name) else { return name }
        let others = Set(
            sessions.map(\.provider) + (network.map { Array($0.providers.keys) + Array($0.clockSkews.keys) } ?? [])
        ).subtracting(Self.bundled).sorted()
        return "provider-\((others.firstIndex(of: name) ?? others.count) + 1)"
    }

    /// Which settings the file has, without their values.
    private static var settings: String {
        guard let file = try? SettingsFile(named: nil), file.exists else { return "no file" }
        guard let text = try? SettingsFile.parse(try file.current(), file.pathInUse) else { return "not readable" }
        // Names of providers and environments are the user's.
        let names = text.settings(below: "").map { value in
            TOMLPath.components(value.path).flatMap(SettingKey.matching)?.name ?? "unknown"
        }
        return names.isEmpty ? "none" : Set(names).sorted().joined(separator: ", ")
    }

    private static var system: String {
        let release = (try? FileText.read("/etc/os-release", atMost: longest)) ?? ""
        let name = release.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }?
            .dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" }
        let kernel = (try? FileText.read("/proc/sys/kernel/osrelease", atMost: longest)) ?? ""
        let version = kernel.prefix { $0 != "\n" }
        return [name ?? "unknown", "Linux \(version)"].joined(separator: ", ")
    }
}

/// Where settings and profiles have problems, without the names of files, values and the user's own keys.
struct ReportedProblems {
    private(set) var lines: [String] = []
    private var profiles: [Substring] = []

    init(_ problems: [String]) {
        for problem in problems { lines.append(line(problem)) }
    }

    /// From `PATH:LINE: KEY: expected …`.
    private mutating func line(_ problem: String) -> String {
        guard let end = problem.firstRange(of: ".toml") else { return "invalid" }
        let path = problem[..<end.upperBound]
        var rest = problem[end.upperBound...]
        var place = name(path)
        let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
        if rest.first == ":", !digits.isEmpty {
            place += ":\(digits)"
            rest = rest[digits.endIndex...]
        }
        guard place.hasPrefix(Self.settings), rest.hasPrefix(": "),
            let keyEnd = rest.dropFirst(2).firstRange(of: ": expected")
        else { return "\(place): invalid" }
        let key = rest[..<keyEnd.lowerBound].dropFirst(2)
        guard let setting = TOMLPath.components(String(key)).flatMap(SettingKey.matching) else {
            return "\(place): invalid"
        }
        return "\(place): \(setting.name): invalid value"
    }

    private static let settings = "authd.toml"

    private mutating func name(_ path: Substring) -> String {
        guard !path.hasSuffix("/" + Self.settings) else { return Self.settings }
        if !profiles.contains(path) { profiles.append(path) }
        return "profile-\((profiles.firstIndex(of: path) ?? 0) + 1)"
    }
}
