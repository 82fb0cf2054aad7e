import AuthWire

/// Has a running agent read its settings again.
enum SettingsReload {
    /// A healthy agent reads its files at once.
    private static let timeout = Duration.seconds(5)

    enum Outcome {
        case reloaded(String?)
        case noAgent
        /// An option names the file, and nothing says which agent uses it.
        case unknownAgent
        case failed(Failure)
    }

    static func run(_ options: Options, _ file: SettingsFile) -> Outcome {
        guard !file.isNamed || options.socket != nil else { return .unknownAgent }
        var options = options
        options.timeout = options.timeout ?? timeout
        do throws(Failure) {
            return .reloaded(try options.connect().call(AgentReload()).value.message)
        } catch {
            return error.status == .noAgent ? .noAgent : .failed(error)
        }
    }

    /// Also in JSON.
    static func report(_ outcome: Outcome, _ json: inout JSONObject, asJSON: Bool) {
        let text: String
        switch outcome {
        case .reloaded(let message):
            json["reloaded"] = true
            json["changes"] = message.map(JSON.string)
            text = "authd: \(message ?? "reloaded")"
        case .noAgent:
            json["reloaded"] = false
            text = "authd is not running; it reads the file when it starts"
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
