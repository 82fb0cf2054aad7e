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
            let ended = try await scene.authc(["logout", "-s", "notes"])
            #expect(ended.status == 0, "\(ended.err)")
            if ended.status == 0 { #expect(await server.output.wait(for: "signed out")) }
        }
    }

    @Test("sign-in, renewal and sign-out send multipart bodies, and no value adds a part")
    func parts() async throws {
        try await play(
            """
            refresh_token = "/refresh_token"
            [errors]
            message = "/detail"
            [sign_in.password.request]
            method = "POST"
            path = "/parts/session"
            [[sign_in.password.request.multipart]]
            name = "name"
            text = "{user}"
            [[sign_in.password.request.multipart]]
            name = "password"
            text = "{password}"
            [[sign_in.password.request.multipart]]
            name = "scope"
            text = "read"
            [renewal]
            kind = "refresh"
            [renewal.request]
            method = "POST"
            path = "/parts/renewal"
            multipart = [{ name = "refresh_token", text = "{refresh_token}" }]
            [sign_out]
            method = "POST"
            path = "/parts/end"
            multipart = [{ name = "refresh_token", text = "{refresh_token}" }]
            """
        ) { scene, server in
            // If it became a part, the server would find Ada's name in it.
            let part = "eve\r\n--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nada"
            let sly = try await login(scene, user: part)
            #expect(sly.status != 0 && sly.err.contains("Wrong name or password"), "\(sly.err)")
            let right = try await login(scene)
            #expect(right.status == 0, "\(right.err)")
            let first = try await scene.authc(["token", "-s", "notes"]).out
            let renewed = try await scene.authc(["refresh", "-s", "notes"])
            #expect(renewed.status == 0, "\(renewed.err)")
            #expect(try await scene.authc(["token", "-s", "notes"]).out != first)
            let ended = try await scene.authc(["logout", "-s", "notes"])
            #expect(ended.status == 0, "\(ended.err)")
            if ended.status == 0 { #expect(await server.output.wait(for: "signed out")) }
        }
    }

    @Test(
        "the token is in one place, once, in the profile's requests and in calls",
        arguments: [
            (#""Token {access_token}""#, "word", "header authorization"),
            (#"{ header = "X-API-Key" }"#, "header", "header x-api-key"),
            (#"{ query = "api_key" }"#, "query", "query api_key"), (#"{ cookie = "sid" }"#, "cookie", "header cookie"),
        ])
    func places(authorization: String, place: String, found: String) async throws {
        // This server reads names and passwords of Basic authentication as ASCII.
        let password = "p:&=%20{x}"
        try await Scene.play { scene in
            try await Peer.running(.fastAPI, [password], in: scene.desktop) { server in
                try await scene.addProfile(
                    """
                    name = "notes"
                    authorization = \(authorization)
                    [environments]
                    local = "\(server.url)"
                    [sign_in.password]
                    fields = [{ name = "user" }, { name = "password", kind = "password" }]
                    [sign_in.password.request]
                    method = "POST"
                    path = "/basic"
                    basic = { user = "{user}", password = "{password}" }
                    [reply]
                    access_token = "/access_token"
                    user = ""
                    [user]
                    id = "/username"
                    [user_request.request]
                    method = "GET"
                    path = "/places/\(place)/user"
                    bearer = true
                    [renewal]
                    kind = "none"
                    [endpoints.look]
                    method = "GET"
                    path = "/places/\(place)"
                    """, named: "notes")
                let colon = try await login(scene, user: "a:b", password: password)
                #expect(colon.status != 0 && colon.err.contains("':'"), "\(colon.err)")
                let right = try await login(scene, password: password)
                #expect(right.status == 0, "\(right.err)")
                let user = try await scene.authc(["whoami", "--fresh", "-s", "notes"])
                #expect(user.status == 0, "\(user.err)")
                // Twice: the second one is from the cache, if the response may be kept.
                for arguments in [["call", "look"], ["request", "GET", "/places/\(place)?x=1"]] {
                    let seen = try await scene.authc(arguments + ["-s", "notes"])
                    #expect(seen.status == 0, "\(seen.err)")
                    #expect(try JSON(parsing: seen.out)["found"] == [.string(found)], "\(seen.out)")
                }
                let taken = try await scene.authc([
                    "request", "GET", "/places/query?api_key=mine", "-H", "X-API-Key: mine", "-H", "Cookie: sid=mine",
                    "-s", "notes",
                ])
                if place != "word" { #expect(taken.err.contains("Only the agent may set the"), "\(taken.err)") }
            }
        }
    }

    @Test("filters reach the server as they are described")
    func filters() async throws {
        try await play(
            """
            [sign_in.password.request]
            method = "POST"
            path = "/filters"
            body = { digest = "{password:sha256hex}", who = "{user:lower:base64}", link = "{user:url}" }
            [renewal]
            kind = "none"
            """
        ) { scene, server in
            let login = try await scene.authc(
                ["login", "notes", "--field", "user=A D/&ö~", "--password-stdin"], input: "abc")
            #expect(login.status == 0, "\(login.err)")
            #expect(await server.output.wait(for: "'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'"))
            #expect(await server.output.wait(for: "'who': 'YSBkLybDtn4='"))
            #expect(await server.output.wait(for: "'link': 'A%20D%2F%26%C3%B6~'"))
        }
    }

    @Test("sign-in and renewal at one host, calls at another; a changed address of a host needs a new sign-in")
    func hosts() async throws {
        try await Scene.play { scene in
            try await Peer.running(.fastAPI, [Self.password], in: scene.desktop) { server in
                // The same server, and another origin.
                let profile = """
                    name = "notes"
                    [environments]
                    local = "\(server.url)"
                    [hosts]
                    auth = "http://localhost:\(server.port)"
                    [sign_in.password]
                    fields = [{ name = "user" }, { name = "password", kind = "password" }]
                    [sign_in.password.request]
                    method = "POST"
                    host = "auth"
                    path = "/session"
                    form = { name = "{user}", password = "{password}", scope = "all" }
                    [reply]
                    access_token = "/access_token"
                    refresh_token = "/refresh_token"
                    [renewal]
                    kind = "refresh"
                    [renewal.request]
                    method = "POST"
                    host = "auth"
                    path = "/renewal"
                    form.refresh_token = "{refresh_token}"
                    [endpoints.me]
                    method = "GET"
                    path = "/users/me"
                    [endpoints.seen]
                    method = "GET"
                    host = "auth"
                    path = "/seen"
                    bearer = false
                    """
                try await scene.addProfile(profile, named: "notes")
                let right = try await login(scene)
                #expect(right.status == 0, "\(right.err)")
                #expect(try await scene.authc(["refresh", "-s", "notes"]).status == 0)
                let me = try await scene.authc(["call", "me", "-s", "notes"])
                #expect(me.status == 0 && me.out.contains("ada"), "\(me.err)")
                let seen = try await scene.authc(["call", "seen", "-s", "notes"])
                #expect(seen.status == 0 && seen.out.contains("localhost:"), "\(seen.err)")
                #expect(!seen.out.lowercased().contains("authorization"), "\(seen.out)")

                try await scene.addProfile(
                    profile.replacing("localhost", with: "127.0.0.2"), named: "notes")
                let moved = try await scene.authc(["refresh", "-s", "notes"])
                #expect(moved.status != 0 && moved.err.contains("127.0.0.2"), "\(moved.err)")
                let status = try await scene.agent.status("notes")
                #expect(status.state == .signInRequired && status.cause == "origin_changed")
                try await scene.addProfile(profile, named: "notes")
                #expect(try await scene.authc(["refresh", "-s", "notes"]).status == 0)
            }
        }
    }
}
