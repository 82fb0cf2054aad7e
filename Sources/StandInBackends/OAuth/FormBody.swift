import Foundation

extension Call {
    /// The form in the body. Each name occurs once (RFC 6749 §3.2).
    func form() throws(Refusal) -> [String: String] {
        let type = header("content-type")?.split(separator: ";").first?.lowercased() ?? ""
        guard type == "application/x-www-form-urlencoded" else {
            throw .oauth("invalid_request", "Content-Type must be application/x-www-form-urlencoded")
        }
        var form: [String: String] = [:]
        for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let name = String(halves[0]).removingFormEscapes,
                let value = String(halves[1]).removingFormEscapes, form.updateValue(value, forKey: name) == nil
            else { throw .oauth("invalid_request", "the form is invalid, or has a name twice") }
        }
        return form
    }
}

extension String {
    var addingFormEscapes: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    var removingFormEscapes: String? { replacing("+", with: " ").removingPercentEncoding }
}

/// Foundation's base64, so that the stand-ins share none with what they test.
enum Base64Text {
    static func decode(_ text: String) -> String? {
        Data(base64Encoded: text).flatMap { String(data: $0, encoding: .utf8) }
    }
}
