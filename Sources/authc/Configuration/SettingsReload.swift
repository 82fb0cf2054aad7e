import AuthConfiguration
import AuthWire

/// Has a running agent read its settings and profiles again.
enum SettingsReload {
    /// A healthy agent reads its files at once.
    private static let timeout = Duration.seconds(5)

    enum Outcome {
        case reloaded(String?)
        case noAgent
        /// An option names the file, and nothing says which agent uses it.
        case unknownAgent
        case failed(Failure)

        /// Whether it loaded a profile, and changed nothing else.
        func isOnly(profile name: String) -> Bool {
            guard case .reloaded(let message) = self else { return false }
            return [ReloadResult.added(profile: name), ReloadResult.changed(profile: name)].contains(message)
        }
    }

    static func run(_ options: Options, _ file: SettingsFile) -> Outcome {
        guard !file.isNamed || options.socket != nil else { return .unknownAgent }
        return run(options)
    }

    /// After a change of a file that the agent finds by itself.
    static func run(_ options: Options) -> Outcome {
        var options = options
        options.timeout = options.timeout ?? timeout
        do throws(Failure) {
            return .reloaded(try options.connect().call(AgentReload()).value.message)
        } catch {
            return error.status == .noAgent ? .noAgent : .failed(error)
        }
    }

    /// When a change takes effect, for a setting that authd itself does not use; `nil` for any other setting.
    private static func effect(of path: [TOMLPath.Component]?) -> String? {
        guard case .key("prompt")? = path?.first else { return nil }
        return "it applies to `authc prompt` now, and to the prompts of new shells"
    }

    /// Reports the outcome, in JSON as well.
    /// - Parameter path: the changed setting; `nil` if the whole file was edited.
    static func report(
        _ outcome: Outcome, of path: [TOMLPath.Component]?, _ json: inout JSONObject, asJSON: Bool
    ) {
        let effect = effect(of: path)
        let text: String
        switch outcome {
        case .reloaded(let message):
            // The reload also applies other changes of the file.
            let isAlone = effect != nil && message == ReloadResult.unchanged
            let changes = [isAlone ? nil : message, effect].compactMap(\.self)
            json["reloaded"] = true
            json["changes"] = changes.isEmpty ? nil : .string(changes.joined(separator: "; "))
            let agent = isAlone ? nil : "authd: \(message ?? "reloaded")"
            text = [agent, effect].compactMap(\.self).joined(separator: "\n")
        case .noAgent:
            json["reloaded"] = false
            text = effect ?? "authd is not running; it reads the file when it starts"
        case .unknownAgent:
            json["reloaded"] = false
            text = "saved; reload the agent that uses this file"
        case .failed(let failure):
            json["reloaded"] = false
            json["error"] = failure.json["error"]
            text = "saved, but authd has not reloaded: \(failure.text)\n  `authc reload` tries again"
        }
        if !asJSON { Output.note(Visible.lines(text)) }
    }
}
