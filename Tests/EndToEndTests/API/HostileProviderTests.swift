import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent and a provider that misbehaves. A good client is served meanwhile.
@Suite("Hostile providers", .serialized, .timeLimit(.minutes(5)))
struct HostileProviderTests {
    /// What no sign-in and no call may succeed with.
    private static let broken = [
        "endless-body", "endless-chunks", "chunk-extension", "trailers", "gzip", "deflate", "deep", "values", "half",
        "length",
        "two-lengths", "endless-headers", "huge-header", "huge-reason", "early", "continue", "silent", "slow", "text",
    ]
    private static let elsewhere = [
        "redirect-file", "redirect-script", "redirect-other", "redirect-name", "redirect-user", "redirect-relative",
        "redirect-loop", "redirect-get",
    ]

    @Test("each broken response to a sign-in is one clear error")
    func signIns() async throws {
        try await HostileScene.play { hostile in
            let attacks = Self.broken + Self.elsewhere + ["gzip-twice"]
            try await hostile.addProfile(
                Dictionary(uniqueKeysWithValues: attacks.map { ($0, hostile.provider.url + "/" + $0) }))
            for attack in attacks {
                let output = try await hostile.login(attack)
                try hostile.expectRefused(output, attack)
            }
            let requests = try await hostile.requests()
            try Self.expectNothingLed(elsewhere: requests)
        }
    }

    @Test("and so is each of them to a call")
    func calls() async throws {
        try await HostileScene.play { hostile in
            try await hostile.addProfile(["good": hostile.provider.url + "/good"])
            #expect(try await hostile.login("good").status == 0)
            // What is only checked and passed on may have any number of values.
            let attacks = (Self.broken + Self.elsewhere).filter { !["text", "values"].contains($0) }
            // Four at once: most wait for the limit of a response.
            for start in stride(from: 0, to: attacks.count, by: 4) {
                try await withThrowingTaskGroup { group in
                    for attack in attacks[start...].prefix(4) {
                        group.addTask {
                            let words = ["request", "GET", "/" + attack, "-s", "hostile"]
                            let output = try await hostile.scene.authc(words)
                            try hostile.expectRefused(output, attack)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            // The session is not harmed.
            let seen = try await hostile.scene.authc(["request", "GET", "/seen", "-s", "hostile"])
            #expect(seen.status == 0, "\(seen.err)")
            let requests = try await hostile.requests()
            #expect(
                requests.filter { $0["path"] == "/good/seen" }.allSatisfy { $0["authorization"] == "Bearer token-good" }
            )
            try Self.expectNothingLed(elsewhere: requests)
        }
    }

    /// No redirect was followed to another origin, so nothing was sent there.
    private static func expectNothingLed(elsewhere requests: [JSON]) throws {
        #expect(!requests.isEmpty)
        #expect(!requests.contains { $0["path"]?.stringValue?.contains("steal") == true })
        let loops = requests.count { $0["path"]?.stringValue?.contains("redirect-loop") == true }
        #expect(loops <= 6, "\(loops)")
    }

    @Test("dates and ages that no clock has do no harm")
    func dates() async throws {
        try await HostileScene.play { hostile in
            let attacks = ["age", "dates"]
            try await hostile.addProfile(
                Dictionary(uniqueKeysWithValues: attacks.map { ($0, hostile.provider.url + "/" + $0) }))
            for attack in attacks {
                let login = try await hostile.login(attack, session: attack)
                #expect(login.status == 0, "\(attack): \(login.err)")
                #expect(try await hostile.scene.agent.status(attack).state == .active)
            }
        }
    }

    @Test("cookies of other hosts are not kept, and not sent")
    func cookies() async throws {
        try await HostileScene.play { hostile in
            try await hostile.addProfile([
                "cookies": hostile.provider.url + "/cookies", "good": hostile.provider.url + "/good",
            ])
            let login = try await hostile.login("cookies")
            #expect(login.status == 0, "\(login.err)")
            for _ in 1...2 { _ = try await hostile.scene.authc(["request", "GET", "/x", "-s", "hostile"]) }
            let sent = try await hostile.requests().compactMap { $0["cookie"]?.stringValue }
            // Those without a domain are of the host that has set them.
            #expect(!sent.isEmpty)
            for cookies in sent {
                let names = cookies.split(separator: "; ").map { $0.prefix { $0 != "=" } }
                #expect(Set(names).isSubset(of: ["own", "c5"]), "\(cookies)")
            }
        }
    }

    @Test("nothing is sent to a server without a valid certificate")
    func certificates() async throws {
        try await HostileScene.play { hostile in
            let names = ["wrong-name", "expired", "not-yet", "self-signed", "trusted"]
            try await hostile.addProfile(
                Dictionary(
                    uniqueKeysWithValues: names.map { ($0, "https://127.0.0.1:\(hostile.ports[$0] ?? 0)/good") }))
            for name in names where name != "trusted" {
                let output = try await hostile.login(name)
                try hostile.expectRefused(output, name)
                #expect(output.err.contains("certificate"), "\(name): \(output.err)")
            }
            #expect(try await hostile.requests().isEmpty)
            let trusted = try await hostile.login("trusted")
            #expect(trusted.status == 0, "\(trusted.err)")
            #expect(try await hostile.requests().count == 1)
        }
    }

    @Test("floods and resets of HTTP/2, which the agent does not offer, end the request, and nothing else")
    func http2() async throws {
        try await HostileScene.play { hostile in
            let names = hostile.floods
            try await hostile.addProfile(
                Dictionary(
                    uniqueKeysWithValues: names.map { ($0, "https://127.0.0.1:\(hostile.ports[$0] ?? 0)/good") }))
            for name in names {
                let output = try await hostile.login(name)
                try hostile.expectRefused(output, name)
            }
            let seen = try await hostile.requests()
            #expect(Set(seen.compactMap { $0["path"]?.stringValue }) == Set(names.map { $0.replacing("-", with: "_") }))
            #expect(seen.allSatisfy { $0["first"]?.stringValue?.hasPrefix("POST ") == true })
        }
    }

    @Test("and the request of a bridge, which offers it")
    func bridges() async throws {
        try await HostileScene.play { hostile in
            for name in hostile.floods {
                let url = "https://127.0.0.1:\(hostile.ports[name] ?? 0)/mcp"
                let bridge = try await HeldBridge(url, ["--timeout", "2s"], on: hostile.scene.desktop)
                let answer = try await bridge.ask(1, "ping")
                #expect(answer["error"] != nil, "\(name): \(answer)")
                let megabytes = try AgentSize(of: bridge.child.pid).megabytes
                #expect(megabytes < HostileScene.mostMegabytes, "\(name): \(megabytes) MiB")
                bridge.child.endInput()
                _ = await bridge.child.ended()
            }
            let seen = try await hostile.requests()
            #expect(
                Set(seen.compactMap { $0["path"]?.stringValue })
                    == Set(hostile.floods.map { $0.replacing("-", with: "_") }))
        }
    }

    @Test("keys of another issuer, of a file or that are too long or too many sign nobody in")
    func keys() async throws {
        try await HostileScene.play { hostile in
            let names = [
                "good", "other-keys", "file-keys", "endless-keys", "redirected-keys", "large-key", "many-keys",
                "other-issuer",
            ]
            for name in names {
                try await hostile.scene.addProfile(
                    """
                    name = "\(name)"
                    issuer = "\(hostile.provider.url)/oauth/\(name)"
                    client_id = "authd-test"
                    scopes = ["openid"]
                    """, named: name)
                let output = try await hostile.scene.agent.authc("login", name, "--method", "device")
                if name == "good" {
                    #expect(output.status == 0, "\(output.err)")
                } else {
                    #expect(output.status != 0, "\(name): \(output.out)")
                    #expect(!output.err.contains("root:"), "\(name)")
                }
            }
            let sessions = try await SessionList(hostile.scene.agent.json("list")).sessions.map(\.session.text)
            #expect(Set(sessions) == [HostileScene.good, "good"])
            let requests = try await hostile.requests()
            try Self.expectNothingLed(elsewhere: requests)
        }
    }
}
