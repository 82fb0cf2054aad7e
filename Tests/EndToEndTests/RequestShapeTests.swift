import AuthWire
import Foundation
import TestSupport
import Testing

/// Requests that a profile describes, as a real server reads them.
@Suite("Shapes of requests", .serialized, .timeLimit(.minutes(2)))
struct RequestShapeTests {
    /// A form, a template or a URL would break on it if it were not encoded.
    private static let password = "p&name=eve=%20{x}+\"ö"

    /// - Parameter profile: what differs between the tests; `URL` is the server's address.
    private func play(
        _ profile: String, _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            try await Peer.running(.fastAPI, [Self.password], in: scene.desktop) { server in
                let head = """
                    name = "notes"
                    [environments]
                    local = "\(server.url)"
                    [sign_in.password]
                    fields = [{ name = "user" }, { name = "password", kind = "password" }]
                    [reply]
                    access_token = "/access_token"

                    """
                try await scene.addProfile(head + profile.replacing("URL", with: server.url), named: "notes")
                try await test(scene, server)
            }
        }
    }

    private func login(_ scene: Scene, user: String = "ada", password: String = password) async throws -> Child.Output {
        try await scene.authc(
            ["login", "notes", "--field", "user=\(user)", "--password-stdin"], input: password)
    }

    @Test("sign-in, renewal, endpoint and sign-out send forms, and no value adds a field")
    func forms() async throws {
        try await play(
            """
            refresh_token = "/refresh_token"
            [errors]
            message = "/detail"
            [sign_in.password.request]
            method = "POST"
            path = "/session"
            form = { name = "{user}", password = "{password}", scope = ["read", "write"] }
            [renewal]
            kind = "refresh"
            [renewal.request]
            method = "POST"
            path = "/renewal"
            form.refresh_token = "{refresh_token}"
            [sign_out]
            method = "POST"
            path = "/end"
            form.refresh_token = "{refresh_token}"
            [endpoints.note]
            method = "POST"
            path = "/notes"
            form = { text = "{text}", stars = "{stars}", tags = "{tags}" }
            args = { text = "text", stars = "integer?", tags = "list?" }
            """
        ) { scene, server in
            let wrong = try await login(scene, password: "wrong")
            #expect(wrong.status != 0 && wrong.err.contains("Wrong name or password"), "\(wrong.err)")
            // If it became a field, the server would find Ada's name in it.
            let sly = try await login(scene, user: "eve&name=ada")
            #expect(sly.status != 0 && sly.err.contains("Wrong name or password"), "\(sly.err)")
            let right = try await login(scene)
            #expect(right.status == 0, "\(right.err)")
            let first = try await scene.authc(["token", "-s", "notes"]).out
            let renewed = try await scene.authc(["refresh", "-s", "notes"])
            #expect(renewed.status == 0, "\(renewed.err)")
            #expect(try await scene.authc(["token", "-s", "notes"]).out != first)
            let note = try await scene.authc([
                "call", "note", "-s", "notes", "text=a&stars=5\nb", "stars=3", #"tags=["x&y","z"]"#,
            ])
            #expect(note.status == 0, "\(note.err)")
            #expect(
                try JSON(parsing: note.out) == [
                    "by": "ada", "text": "a&stars=5\nb", "stars": 3, "tags": ["x&y", "z"],
                ])
            let plain = try await scene.authc(["call", "note", "-s", "notes", "text=only"])
            #expect(
                try JSON(parsing: plain.out) == ["by": "ada", "text": "only", "stars": 0, "tags": []], "\(plain.err)")
            let ended = try await scene.authc(["logout", "-s", "notes", "--yes"])
            #expect(ended.status == 0, "\(ended.err)")
            #expect(await server.output.wait(for: "signed out"))
        }
    }
}
