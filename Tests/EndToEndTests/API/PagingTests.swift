import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Responses that name the next page by its address, through the real agent.
@Suite("Pages by address", .serialized, .timeLimit(.minutes(2)))
struct PagingTests {
    /// A profile with an endpoint `notes`, and a token of Django REST framework.
    private static func profile(_ url: String, api: String = "", _ endpoints: String) -> String {
        """
        name = "notes"
        authorization = "Token {access_token}"
        [environments]
        production = "\(url)"
        [sign_in.password]
        fields = [{ name = "username" }, { name = "password", kind = "password" }]
        request = { method = "POST", path = "/api-token-auth/", body = { username = "{username}", password = "{password}" } }
        [reply]
        access_token = "/token"
        [renewal]
        kind = "none"
        [api]
        cache_seconds = 0
        \(api)
        \(endpoints)
        """
    }

    private static func signIn(_ scene: Scene) async throws {
        let login = try await scene.authc(
            ["login", "notes", "--field", "username=ada", "--password-stdin"], input: "Correct-horse1")
        #expect(login.status == 0, "\(login.err)")
    }

    // MARK: Django REST framework

    private static let notes = (1...5).map { "{\"name\":\"note \($0)\"}\n" }.joined()

    @Test("items of pages whose addresses are in the body or in Link, of Django REST framework")
    func django() async throws {
        try await Scene.play { scene in
            try await Peer.running(.djangoREST, ["Correct-horse1"], in: scene.desktop) { server in
                let endpoints = ["notes", "cursor", "linked"].map { name in
                    """
                    [endpoints.\(name)]
                    method = "GET"
                    path = "/\(name)/"
                    pages = { items = "\(name == "linked" ? "" : "/results")"\(name == "linked" ? "" : #", next = "/next""#) }
                    """
                }
                try await scene.addProfile(
                    Self.profile(server.url, api: #"next = "/next""#, endpoints.joined(separator: "\n")), named: "notes"
                )
                try await Self.signIn(scene)
                for name in ["notes", "cursor", "linked"] {
                    let all = try await scene.agent.authc("call", name, "--all")
                    #expect(all.status == 0 && all.out == Self.notes, "\(name): \(all.out)\(all.err)")
                }
                let slurped = try await scene.agent.authc("call", "notes", "--all", "--slurp")
                #expect(try JSON(parsing: Array(slurped.out.utf8)).arrayValue?.count == 5, "\(slurped.out)")
                // Whole pages, one after another.
                let pages = try await scene.agent.authc("request", "GET", "/notes/", "--all")
                let counts = try pages.out.split(separator: "\n")
                    .map { try JSON(parsing: Array($0.utf8))["results"]?.arrayValue?.count }
                #expect(pages.status == 0 && counts == [2, 2, 1], "\(pages.out)\(pages.err)")
            }
        }
    }

    // MARK: Servers that misbehave

    private static func play(
        _ reply: @escaping @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply, _ more: String = "",
        _ test: @escaping @Sendable (Scene, ScriptedBackend) async throws -> Void
    ) async throws {
        try await ScriptedBackend.serving({ call in
            call.path == "/api-token-auth/" ? .init(200, #"{"token":"token-secret-1"}"#) : reply(call)
        }) { backend in
            try await Scene.play { scene in
                let endpoint = """
                    [endpoints.list]
                    method = "GET"
                    path = "/list"
                    pages = { items = "/items", next = "/next" }

                    """
                try await scene.addProfile(profile(backend.url, endpoint + more), named: "notes")
                try await signIn(scene)
                try await test(scene, backend)
            }
        }
    }

    @Test("a page elsewhere is not requested, and the error names both origins")
    func elsewhere() async throws {
        try await ScriptedBackend.serving({ _ in .init(200, "{}") }) { other in
            let target = other.url + "/list?page=2"
            try await Self.play({ _ in
                .init(200, #"{"items":[1],"next":"\#(target)"}"#, [("Link", "<\(target)>; rel=next")])
            }) { scene, backend in
                for command in [["call", "list"], ["request", "GET", "/list"]] {
                    let all = try await scene.authc(command + ["--all"])
                    #expect(all.status == 77 && all.out.contains("1"), "\(all.out)\(all.err)")
                    #expect(all.err.contains(backend.url) && all.err.contains(other.url), "\(all.err)")
                }
                // Without --all it is not an error.
                #expect(try await scene.agent.authc("call", "list").status == 0)
            }
            #expect(other.requests.isEmpty)
        }
    }

    @Test("pages that lead back to an earlier one end with an error")
    func loop() async throws {
        try await Self.play({ call in
            .init(200, #"{"items":[1],"next":"\#(call.target.hasSuffix("=2") ? "/list?page=3" : "?page=2")"}"#)
        }) { scene, backend in
            let all = try await scene.agent.authc("call", "list", "--all")
            #expect(all.status == 76 && all.err.contains("leads back to an earlier page"), "\(all.err)")
            #expect(backend.requests(to: "/list").map(\.target) == ["/list", "/list?page=2", "/list?page=3"])
            #expect(backend.requests(to: "/list").allSatisfy { $0.header("authorization") == "Token token-secret-1" })
        }
    }

    @Test("pages that lead back to the first one: it is neither requested nor printed again")
    func backToFirst() async throws {
        try await Self.play({ call in
            call.target.hasSuffix("=2")
                ? .init(200, #"{"items":[2],"next":"/list"}"#) : .init(200, #"{"items":[1],"next":"?page=2"}"#)
        }) { scene, backend in
            let all = try await scene.agent.authc("call", "list", "--all")
            #expect(all.status == 76 && all.out == "1\n2\n", "\(all.out)\(all.err)")
            #expect(all.err.contains("page 2 of list leads back to an earlier page"), "\(all.err)")
            #expect(backend.requests(to: "/list").map(\.target) == ["/list", "/list?page=2"])
        }
    }

    @Test("with --slurp, stdout is one array, or nothing if a page fails")
    func slurp() async throws {
        let endpoint = """
            [endpoints.broken]
            method = "GET"
            path = "/broken"
            pages = { items = "/items", next = "/next" }
            """
        try await Self.play(
            { call in
                if !call.target.hasSuffix("=2") { return .init(200, #"{"items":[1,2],"next":"?page=2"}"#) }
                return call.path == "/list" ? .init(200, #"{"items":[3]}"#) : .init(403, "{}")
            }, endpoint
        ) { scene, _ in
            let whole = try await scene.agent.authc("call", "list", "--all", "--slurp")
            #expect(whole.status == 0 && whole.out == "[1,2,3]\n", "\(whole.out)\(whole.err)")
            let broken = try await scene.agent.authc("call", "broken", "--all", "--slurp")
            #expect(broken.status == 65 && broken.out.isEmpty && !broken.err.isEmpty, "\(broken.out)\(broken.err)")
            // Without it, the items so far are there.
            let lines = try await scene.agent.authc("call", "broken", "--all")
            #expect(lines.status == 65 && lines.out == "1\n2\n", "\(lines.out)\(lines.err)")
        }
    }

    @Test("a cursor that leads back to the one of the first page ends the pages")
    func cursor() async throws {
        let endpoint = """
            [endpoints.cursor]
            method = "GET"
            path = "/cursor"
            query = { at = "{at}" }
            args = { at = "text?" }
            pages = { items = "/items", next = "/at", cursor = "at" }
            """
        try await Self.play(
            { call in
                .init(200, #"{"items":["\#(call.target)"],"at":"\#(call.target.hasSuffix("=a") ? "b" : "a")"}"#)
            }, endpoint
        ) { scene, backend in
            let all = try await scene.agent.authc("call", "cursor", "--all", "at=a")
            #expect(all.status == 76 && all.err.contains("leads back"), "\(all.out)\(all.err)")
            #expect(backend.requests(to: "/cursor").map(\.target) == ["/cursor?at=a", "/cursor?at=b"])
        }
    }

    @Test("a reader that has enough ends the pages, and so does ^C")
    func ended() async throws {
        try await Self.play({ call in
            let page = call.target.split(separator: "=").last.flatMap { Int($0) } ?? 1
            return .init(200, #"{"items":[\#(page)],"next":"/list?page=\#(page + 1)"}"#)
        }) { scene, _ in
            let piped = try await scene.desktop.run([
                "bash", "-c", "set -o pipefail; timeout 60 \(Programs.authc) call list --all | head -n 3",
            ])
            #expect(piped.out == "1\n2\n3\n" && piped.status == 128 + SIGPIPE, "\(piped.status) \(piped.err)")
            let endless = try await Child(
                [Programs.authc, "call", "list", "--all"], environment: scene.desktop.environment)
            #expect(await endless.out.wait(for: "\n5\n"))
            endless.kill(SIGINT)
            #expect(await endless.ended() == 128 + SIGINT)
        }
    }

    @Test("what --all cannot be combined with is reported before anything is sent")
    func usage() async throws {
        try await Self.play({ _ in .init(200, "{}") }) { scene, backend in
            for (options, words) in [
                (["call", "list", "--slurp"], "belongs to --all"),
                (["request", "POST", "/list", "--all"], "for a GET"),
                (["call", "list", "--all", "--queue"], "remove --queue"),
                (["request", "GET", "/list", "--all", "-o", "-"], "remove --output"),
            ] {
                let refused = try await scene.authc(options)
                #expect(refused.status == 64 && refused.err.contains(words), "\(refused.err)")
            }
            #expect(backend.requests(to: "/list").isEmpty)
        }
    }
}
