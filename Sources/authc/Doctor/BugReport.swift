import AuthClient
import AuthConfiguration
import AuthWire
import Glibc

/// `doctor --report`: what a bug report needs, without what belongs to the user.
struct BugReport {
    private static let bundled: Set = ["anonymous-wall", "app-template", "aws-lambda", "envelope", "fork-in-the-road"]
    private static let longest = 4096

    let findings: [Finding]
    let info: AgentInfo?
    let sessions: [SessionStatus]

    var text: String {
        let redaction = Redaction(sessions, bundled: Self.bundled)
        var lines = [
            "authc \(Release.version)" + (info.map { ", authd \($0.version), protocol \($0.protocolVersion)" } ?? "")
        ]
        lines.append("system: \(Self.system)")
        if let info { lines.append("store: \(info.store.kind.rawValue), \(info.store.state.rawValue)") }
        lines.append("settings: \(Self.settings)")
        lines += sessions.map { status in
            redaction.text(
                "session: \(status.session), \(status.provider), \(StatusCard.stateText(status))"
                    + (status.renews ? "" : ", not renewed"))
        }
        lines += findings.map { redaction.text("\($0.level.rawValue): \($0.subject.rawValue): \($0.message)") }
        return lines.map { Visible.line($0) }.joined(separator: "\n")
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
