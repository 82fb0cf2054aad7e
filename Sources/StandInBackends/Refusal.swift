/// A refusal, before a backend gives it its own form.
struct Refusal: Error, Sendable {
    var status: Int
    var message: String
    /// For programs; a shape without codes omits it.
    var code: String?
    /// One line for each field, if the shape has details.
    var details: [String] = []

    static func badRequest(_ message: String, details: [String] = []) -> Refusal {
        Refusal(status: 400, message: message, code: "BAD_REQUEST", details: details)
    }
    static func unauthorized(_ message: String) -> Refusal {
        Refusal(status: 401, message: message, code: "UNAUTHORIZED")
    }
    static func forbidden(_ message: String) -> Refusal {
        Refusal(status: 403, message: message, code: "FORBIDDEN")
    }
    static func notFound(_ message: String) -> Refusal {
        Refusal(status: 404, message: message, code: "NOT_FOUND")
    }
    static func conflict(_ message: String) -> Refusal {
        Refusal(status: 409, message: message, code: "CONFLICT")
    }
    static let wrongCredentials = Refusal(
        status: 401, message: "Invalid email or password", code: "INVALID_CREDENTIALS")
}
