import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

extension Scene {
    static let wall = "anonymous-wall"

    /// `authc` at a terminal, in this scene's home.
    func terminal(
        _ line: String, columns: UInt16 = 80, with more: [String: String] = [:]
    ) async throws -> Terminal {
        try await Terminal(
            "\(line); echo \"exit $?\"", columns: columns, environment: desktop.environment.merging(more) { $1 })
    }

    /// The code that was mailed last.
    func code(_ email: String) throws -> String {
        guard let code = backends.lastCode(to: email) else { throw Failure("no code was mailed to \(email)") }
        return code
    }

    /// Registers at C on a terminal, with the code that the user received.
    func registerAtWall(_ email: String) async throws {
        let terminal = try await terminal("authc register \(Self.wall) --environment local")
        await terminal.waits(for: "E-mail: ")
        terminal.type(email + "\n")
        await terminal.waits(for: "another code): ")
        terminal.type(try code(email) + "\n")
        await terminal.waits(for: "exit ")
        await terminal.ends()
        guard terminal.text.contains("exit 0") else { throw Failure(terminal.text) }
    }

    /// One question on the socket, as a program without `authc` puts it.
    func ask(_ method: String, _ params: JSON) async throws -> JSON {
        let path = desktop.folder.path + "/run/authd/socket"
        return try await onThread {
            let answer = try RawClient(path, timeout: 60).ask(method, params)
            return answer["result"] ?? answer
        }
    }

    /// Expects that the provider refuses to renew a session with a new token. That is not final, and neither is a 401 for
    /// such a token.
    /// - Returns: the output of `authc refresh`.
    @discardableResult
    func expectRefusal(of session: String) async throws -> Child.Output {
        let refused = try await agent.authc("refresh", "-s", session)
        #expect(refused.status == 65 && refused.err.contains("This is not final"), "\(refused.err)")
        let status = try await agent.status(session)
        #expect(status.state == .active && status.cause == "renewal_refused")
        let token = try await ask("token.get", ["session": .string(session)])["access_token"]
        let answer = try await ask("token.reject", ["session": .string(session), "access_token": token ?? .null])
        #expect(answer["error"] == nil, "\(answer.text())")
        #expect(try await agent.status(session).state == .active)
        return refused
    }

    /// An ID token of Google's making, as far as authd and the backend look at it.
    static func googleToken(subject: String, email: String, end: Double = 4_000_000_000) -> String {
        let claims: JSON = [
            "iss": "https://accounts.google.com", "sub": .string(subject), "email": .string(email),
            "name": "Grace Hopper", "exp": .number(end),
        ]
        let parts = [#"{"alg":"RS256"}"#, claims.text(), "signature"].map { part in
            Data(part.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return parts.joined(separator: ".")
    }
}

extension Scene {
    func authc(_ arguments: [String], input: String? = nil) async throws -> Child.Output {
        try await desktop.run([Programs.authc] + arguments, input: input)
    }

    /// A line of a script, in which `$0` is `authc`.
    func shell(_ line: String) async throws -> Child.Output {
        try await desktop.run(["bash", "-c", line, Programs.authc])
    }
}
