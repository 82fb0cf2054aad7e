import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

/// A token in a query parameter, which servers and proxies log: the agent itself never shows it.
@Suite("A token in a query parameter", .serialized, .timeLimit(.minutes(2)))
struct QueryTokenTests {
    private static let token = "secret-token-q7w8e9"

    @Test("it is sent once, to its own server, even from the queue, and is nowhere in logs, errors and lists")
    func query() async throws {
        try await ScriptedBackend.serving({ _ in .init(200, "{}") }) { other in
            let isDown = Mutex(false)
            let elsewhere = other.url + "/stolen"
            try await ScriptedBackend.serving({ call in
                if isDown.withLock({ $0 }) { return .init(503, #"{"message":"later"}"#) }
                switch call.path {
                case "/login": return .init(200, #"{"token":"\#(Self.token)"}"#)
                case "/away": return .init(302, "", [("Location", elsewhere)])
                case "/moved": return .init(302, "", [("Location", "/here")])
                case "/fails": return .init(400, #"{"message":"No"}"#)
                default: return .init(200, "{}")
                }
            }) { backend in
                try await Scene.play { scene in
                    try await scene.addProfile(Self.profile(backend.url), named: "weak")
                    let login = try await scene.authc(
                        ["login", "weak", "--field", "user=ada", "--password-stdin"], input: "pw")
                    #expect(login.status == 0, "\(login.err)")
                    var shown: [String: String] = [:]
                    for path in ["/a?x=1", "/away", "/moved", "/fails"] {
                        let call = try await scene.authc(["request", "GET", path])
                        shown[path] = call.out + call.err
                    }
                    isDown.withLock { $0 = true }
                    let queued = try await scene.authc([
                        "request", "POST", "/later", "-d", "{}", "--queue", "--no-retry",
                    ])
                    #expect(queued.status == 0 && queued.err.contains("queued as"), "\(queued.out)\(queued.err)")
                    for command in [["outbox"], ["outbox", "list", "--json"], ["status", "--json"], ["doctor"]] {
                        let listed = try await scene.authc(command)
                        shown[command.joined(separator: " ")] = listed.out + listed.err
                    }
                    let file = scene.desktop.folder.path + "/state/authd/outbox.sqlite"
                    shown["the file"] = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
                    isDown.withLock { $0 = false }
                    let flushed = try await scene.authc(["outbox", "flush"])
                    #expect(flushed.status == 0, "\(flushed.out)\(flushed.err)")

                    let place = "key=\(Self.token)"
                    #expect(backend.requests(to: "/a").map(\.target) == ["/a?x=1&\(place)"])
                    #expect(backend.requests(to: "/later").last?.target == "/later?\(place)")
                    // A redirect has the address that the server wrote, and nothing is added to it.
                    #expect(backend.requests(to: "/here").map(\.target) == ["/here"])
                    #expect(other.requests.isEmpty)
                    try await scene.agent.child.end()
                    shown["the log"] = try scene.agent.child.err.text + scene.agent.child.out.text
                    #expect(SecretSearch([Self.token]).findings(in: shown).isEmpty)
                }
            }
        }
    }

    private static func profile(_ url: String) -> String {
        """
        name = "weak"
        authorization = { query = "key" }
        [environments]
        production = "\(url)"
        [sign_in.password]
        fields = [{ name = "user" }, { name = "password", kind = "password" }]
        request = { method = "POST", path = "/login", body = { user = "{user}", password = "{password}" } }
        [reply]
        access_token = "/token"
        [errors]
        message = "/message"
        [renewal]
        kind = "none"
        [api]
        cache_seconds = 0
        """
    }
}
