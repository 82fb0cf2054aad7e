import AuthProviders
import AuthWire
import Testing

/// A valid profile, to be broken in one place.
enum Bench {
    static let lines = [
        #"name = "mine""#,  // 1
        #"default_environment = "production""#,
        "[environments]",  // 3
        #"production = "https://api.example.org""#,
        "[headers]",  // 5
        #"X-User-ID = "{user.id}""#,
        "[sign_in.password]",  // 7
        #"fields = ["#,
        #"  { name = "email", kind = "email" },"#,  // 9
        #"  { name = "password", kind = "password", min_length = 8 },"#,
        "]",  // 11
        "[sign_in.password.request]",
        #"method = "POST""#,  // 13
        #"path = "/login""#,
        #"body = { email = "{email}", password = "{password}" }"#,  // 15
        "[reply]",
        #"access_token = "/token""#,  // 17
        #"user = "/user""#,
        "[user]",  // 19
        #"id = "/id""#,
        "[errors]",  // 21
        #"message = ["/message", "/error"]"#,
        #"envelope = { pointer = "/code", success = 0 }"#,  // 23
        "[renewal]",
        #"kind = "refresh""#,  // 25
        "final_statuses = [401]",
        "[renewal.request]",  // 27
        #"method = "POST""#,
        #"path = "/refresh""#,  // 29
        "bearer = true",
        "[user_request.request]",  // 31
        #"method = "GET""#,
        #"path = "/users/{user.id}""#,  // 33
        "bearer = true",
    ]

    static func text(_ line: Int? = nil, _ replacement: String = "") -> String {
        var lines = lines
        if let line { lines[line - 1] = replacement }
        return lines.joined(separator: "\n")
    }

    static func problems(_ text: String) -> [ProfileProblem] {
        if case .failure(let failure) = ReadingResult.profile(text, source: "mine.toml") {
            failure.problems
        } else {
            []
        }
    }
}
