import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

/// `login.lend` on a real socket for limited access.
@Suite("The browser for sign-ins on other machines", .timeLimit(.minutes(1)))
struct LendingTests {
    private static let endpoint = "http://127.0.0.1:1/authorize"
    private static let request: JSON = [
        "host": "build", "authorization_endpoint": .string(endpoint), "client_id": "authd",
        "scopes": ["read", "admin"],
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "state": "s",
    ]

    /// A user who allows everything, and what they were asked.
    private final class Desktop: ConsentPrompt {
        private let state = Mutex((reply: ConsentReply.answered(.allowed(remembered: nil)), asked: [ConsentQuestion]()))

        var asked: [ConsentQuestion] { state.withLock { $0.asked } }

        func set(_ reply: ConsentReply) { state.withLock { $0.reply = reply } }

        func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply {
            state.withLock { state in
                state.asked.append(question)
                return state.reply
            }
        }

        func withdraw(_ number: UInt64) {}
    }

    private struct Machine: Sendable {
        let rig: TestServer
        let page: TestPage
        let browser: TestBrowser
        let desktop: Desktop
    }

    private static func rules() -> ListenerRules {
        var rules = ListenerRules()
        (rules.signInProviders, rules.signInScopes) = (["sample"], ["read"])
        return rules
    }

    /// - Parameters:
    ///   - opens: whether the browser can be opened.
    ///   - returns: whether it comes back with a code.
    private static func play(
        opens: Bool = true, returns: Bool = true, rules: ListenerRules = rules(),
        named: [ListenerName: ListenerRules] = [:],
        signInsPerHour: Int = Settings.defaultSignInsPerHour,
        _ test: @escaping @Sendable (Machine) throws -> Void
    ) async throws {
        var oauth = OAuthProfile(issuer: nil, clientID: "authd", scopes: ["read", "write"])
        oauth.endpoints.authorization = endpoint
        oauth.endpoints.token = "http://127.0.0.1:1/token"
        let profile = try Sample.profile { profile in
            profile.oauth = oauth
            profile.signIn = oauth.methods
        }
        let (page, desktop) = (TestPage(), Desktop())
        let browser = TestBrowser { _ async throws(AgentError) in
            guard opens else { throw AgentError(.unsupported, "There is no browser.", cause: "no_browser") }
            if returns { page.visit("code=c&state=s") }
        }
        try await TestServer.run(
            catalog: ProfileCatalog([profile]), rules: rules, named: named, signInsPerHour: signInsPerHour,
            desktop: desktop,
            signIn: SignInDependencies(cryptography: PlainCryptography(), redirects: page, keys: MemoryStore()),
            browser: browser
        ) { rig in
            let machine = Machine(rig: rig, page: page, browser: browser, desktop: desktop)
            try await onThread { try test(machine) }
        }
    }

    @Test("a client of a listener gets what the browser brought, after one question, and the audit log has it")
    func lends() async throws {
        try await Self.play { machine in
            let answer = try machine.rig.dialExtra().ask("login.lend", Self.request)
            let lent = try LoginLent(try #require(answer["result"], "\(answer.text())"))
            #expect(lent.query == "code=c&state=s" && lent.scopes == ["read"] && lent.redirectURI == TestPage.address)
            let question = try #require(machine.desktop.asked.first)
            #expect(machine.desktop.asked.count == 1 && question.signIn?.scopes == ["read"])
            #expect(question.program.subject.processID == getpid() && question.key.listener == .extra)
            #expect(question.lines.first?.contains("6XEY7") == true)
            let url = try #require(machine.browser.opened.first)
            #expect(url.hasPrefix(Self.endpoint + "?") && url.contains("scope=read") && !url.contains("admin"))
            let entry = try #require(try AuditLogTests.list(machine.rig).last)
            #expect(entry.method == "login.lend" && entry.purpose == "build" && entry.scopes == "read")
            #expect(entry.origin == Self.endpoint && entry.call == "browser" && entry.error == nil)
            machine.desktop.set(.answered(.refused))
            _ = try machine.rig.dialExtra().ask("login.lend", Self.request)
            let refused = try #require(try AuditLogTests.list(machine.rig).last)
            #expect(refused.number > entry.number && refused.error != nil && refused.scopes == "read")
            #expect(refused.origin == Self.endpoint)
        }
    }

    @Test("it is refused at the main socket, and where a listener's table lists no providers for it")
    func refused() async throws {
        let box = try #require(ListenerName(rawValue: "box"))
        try await Self.play(named: [box: ListenerRules()]) { machine in
            #expect(try machine.rig.dial().ask("login.lend", Self.request).errorCause == "main_socket")
            let bare = try machine.rig.dial("box").ask("login.lend", Self.request)
            #expect(bare.errorCause == "confined" && bare.text().contains("[listener.box]"), "\(bare.text())")
            // A device code without a comparison, of which the letters in the question are made.
            let device: JSON = [
                "authorization_endpoint": .string(Self.endpoint), "client_id": "authd", "scopes": ["read"],
                "device": true,
            ]
            let unnamed = try machine.rig.dialExtra().ask("login.lend", device)
            #expect(unnamed.text().contains("params.comparison"), "\(unnamed.text())")
            #expect(machine.desktop.asked.isEmpty && machine.browser.opened.isEmpty)
            machine.desktop.set(.answered(.refused))
            let client = try machine.rig.dialExtra()
            #expect(try client.ask("login.lend", Self.request).errorCause == "consent_refused")
            // Another connection counts as the same machine.
            #expect(try machine.rig.dialExtra().ask("login.lend", Self.request).errorCause == "consent_paused")
            #expect(machine.desktop.asked.count == 1 && machine.browser.opened.isEmpty)
        }
    }

    @Test("a request that the settings do not allow is refused before a later request is answered")
    func refusedFirst() async throws {
        try await Self.play { machine in
            var unknown = try #require(Self.request.objectValue)
            unknown["client_id"] = "other"
            let client = try machine.rig.dialExtra()
            try client.send(
                RawClient.request("login.lend", .object(unknown)) + RawClient.request("agent.ping", id: 2))
            #expect(try client.json().errorCause == "other_client")
        }
    }

    @Test("a second request at the same listener is refused as busy before a later request is answered")
    func busyFirst() async throws {
        try await Self.play(returns: false) { machine in
            let first = try machine.rig.dialExtra()
            try first.send(RawClient.request("login.lend", Self.request) + RawClient.request("agent.ping", id: 2))
            #expect(try first.json()["id"] == 2)
            let second = try machine.rig.dialExtra()
            try second.send(RawClient.request("login.lend", Self.request) + RawClient.request("agent.ping", id: 2))
            let answer = try second.json()
            #expect(answer.errorKind == "busy" && answer.errorCause == "sign_in_in_progress", "\(answer.text())")
            #expect(machine.desktop.asked.count <= 1)
            first.endWriting()
            #expect(try first.json().errorCause == "client_left")
            while machine.page.isOpen { sched_yield() }
        }
    }

    @Test("a browser that cannot be opened is an internal error")
    func notOpened() async throws {
        await #expect {
            try await DesktopBrowser().show("file:///etc/passwd")
        } throws: { error in
            (error as? AgentError)?.kind == .internal_ && (error as? AgentError)?.cause == "no_browser"
        }
    }

    @Test("the end of the client's input ends it, as ssh passes on the end of a forwarded connection")
    func halfClosed() async throws {
        try await Self.play(returns: false) { machine in
            let client = try machine.rig.dialExtra()
            try client.send(RawClient.request("login.lend", Self.request))
            while machine.browser.opened.isEmpty { sched_yield() }
            #expect(machine.page.isOpen)
            client.endWriting()
            #expect(try client.json().errorCause == "client_left")
            #expect(try client.line() == nil)
            // The work of the request ends later than it is answered.
            while machine.page.isOpen { sched_yield() }
        }
    }

    @Test("an end of the client's input directly after the request ends it, too")
    func halfClosedEarly() async throws {
        try await Self.play(returns: false) { machine in
            let client = try machine.rig.dialExtra()
            try client.send(RawClient.request("login.lend", Self.request))
            client.endWriting()
            #expect(try client.json().errorCause == "client_left")
            #expect(try client.line() == nil)
            // The user may have agreed before.
            while machine.page.isOpen { sched_yield() }
        }
    }

    @Test("new rules end it")
    func newRules() async throws {
        try await Self.play(returns: false) { machine in
            let client = try machine.rig.dialExtra()
            try client.send(RawClient.request("login.lend", Self.request))
            while machine.browser.opened.isEmpty { sched_yield() }
            machine.rig.tables.set(ListenerTables())
            #expect(try client.json().errorCause == "confined")
            while machine.page.isOpen { sched_yield() }
        }
    }

    @Test("a request counts as a begun sign-in only once the user has agreed to it")
    func allowance() async throws {
        // Without a unit, the allowance is the user's, which is four times as large.
        let group = try ControlGroup(String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))
        let most = group?.unit == nil ? 4 : 1
        try await Self.play(opens: false, signInsPerHour: 1) { machine in
            var unknown = try #require(Self.request.objectValue)
            unknown["client_id"] = "other"
            for _ in 0..<10 {
                let answer = try machine.rig.dialExtra().ask("login.lend", .object(unknown))
                #expect(answer.errorCause == "other_client", "\(answer.text())")
            }
            for number in 0...most {
                let answer = try machine.rig.dialExtra().ask("login.lend", Self.request)
                #expect(answer.errorCause == (number == most ? "sign_in_limit" : "no_browser"), "\(answer.text())")
                #expect(machine.browser.opened.count == min(number + 1, most))
            }
            machine.desktop.set(.answered(.refused))
            #expect(try machine.rig.dialExtra().ask("login.lend", Self.request).errorCause == "consent_refused")
        }
    }

    @Test("an access rule that denies it meanwhile keeps back what the browser brought")
    func newAccessRule() async throws {
        try await Self.play(returns: false) { machine in
            let client = try machine.rig.dialExtra()
            try client.send(RawClient.request("login.lend", Self.request))
            while machine.browser.opened.isEmpty { sched_yield() }
            machine.rig.access.change {
                $0 = AccessControlTests.policy(
                    AccessControlTests.rule("no-sign-ins") { $0.request.classes = [.account] })
            }
            machine.page.visit("code=c&state=s")
            let answer = try client.json()
            #expect(answer.errorCause == "access_rule" && !answer.text().contains("code=c"), "\(answer.text())")
        }
    }
}
