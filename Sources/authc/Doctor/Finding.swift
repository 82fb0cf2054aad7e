import AuthWire

/// What one look at one thing found: how good that is, and what a person can do about it.
struct Finding {
    /// What is looked at, in the order in which one leans on the other.
    enum Subject: String {
        case socket, agent, settings, store, network, providers, clock, sessions, lingering
    }

    enum Level: String {
        case ok
        /// Nothing is wrong; worth knowing.
        case note
        /// Something is wrong that sessions live with.
        case warning
        case problem
    }

    let subject: Subject
    let level: Level
    let message: String
    /// What to do.
    let hint: String?
    /// How the command ends, where this is the first problem.
    let status: ExitStatus

    static func ok(_ subject: Subject, _ message: String) -> Finding {
        Finding(subject: subject, level: .ok, message: message, hint: nil, status: .done)
    }

    static func note(_ subject: Subject, _ message: String, hint: String? = nil) -> Finding {
        Finding(subject: subject, level: .note, message: message, hint: hint, status: .done)
    }

    static func warning(_ subject: Subject, _ message: String, hint: String?) -> Finding {
        Finding(subject: subject, level: .warning, message: message, hint: hint, status: .done)
    }

    static func problem(_ subject: Subject, _ status: ExitStatus, _ message: String, hint: String?) -> Finding {
        Finding(subject: subject, level: .problem, message: message, hint: hint, status: status)
    }

    static func problem(_ subject: Subject, _ failure: Failure) -> Finding {
        problem(subject, failure.status, failure.message, hint: failure.hint)
    }

    var json: JSON {
        var object: JSONObject = [
            "check": .string(subject.rawValue), "level": .string(level.rawValue), "message": .string(message),
        ]
        object["hint"] = hint.map(JSON.string)
        return .object(object)
    }
}
