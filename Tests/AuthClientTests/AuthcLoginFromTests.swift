import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

/// What `authc login --from` carries between two agents, which the tests play.
@Suite("authc login --from", .timeLimit(.minutes(1)))
struct AuthcLoginFromTests {
    private static let lend: JSON = [
        "issuer": "https://id.example", "client_id": "authd", "scopes": ["read"], "state": "s",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    ]
    private static let lent: JSON = [
        "client_id": "authd", "scopes": ["read"], "redirect_uri": "http://127.0.0.1:1/", "query": "code=s3cret&state=s",
    ]

    /// The agent of this machine.
    private static func host(first step: JSON = ["login": "1", "kind": "lend", "lend": lend]) throws -> TestAgent {
        try TestAgent { peer, request in
            switch request.method {
            case "login.start": peer.reply(request, step)
            case "login.answer": peer.reply(request, ["login": "1", "kind": "done", "status": Samples.status()])
            default: peer.reply(request, [:])
            }
        }
    }

    private static func run(_ host: TestAgent, from place: String, _ more: [String] = []) async throws -> Program {
        try await Program.run(["login", "forge", "--from", place] + more, folder: host.folder)
    }

    @Test("the other agent gets the request with this machine's name, its answer comes back, and no secret is printed")
    func carries() async throws {
        let (host, laptop) = (try Self.host(), try TestAgent(replies: ["login.lend": .success(Self.lent)]))
        defer { [host, laptop].forEach { $0.stop() } }
        let result = try await Self.run(host, from: laptop.path)
        #expect(result.status == 0, "\(result)")
        let start = try #require(host.requests.first { $0.method == "login.start" }?.params)
        #expect(start["borrow"] == true && start["method"] == "browser")
        let call = try #require(laptop.requests.first { $0.method == "login.lend" }?.params)
        var expected = Self.lend.objectValue ?? [:]
        #expect(call["host"]?.stringValue?.isEmpty == false)
        expected["host"] = call["host"]
        #expect(call.objectValue == expected)
        let answer = try #require(host.requests.first { $0.method == "login.answer" }?.params)
        #expect(answer["lent"] == Self.lent)
        #expect(result.errors.contains("Agree only if it shows 6XEY7."), "\(result)")
        #expect(!(result.output + result.errors).contains("s3cret"))
    }

    @Test("--device is passed on, and the code is shown here, too")
    func device() async throws {
        let lent: JSON = ["client_id": "authd", "scopes": [], "device": ["device_code": "s3cret"]]
        let laptop = try TestAgent(replies: ["login.lend": .success(lent)])
        let host = try TestAgent { peer, request in
            switch request.method {
            case "login.start":
                peer.reply(
                    request,
                    ["login": "1", "kind": "lend", "lend": ["issuer": "i", "client_id": "authd", "device": true]])
            case "login.answer":
                peer.reply(
                    request,
                    ["login": "1", "kind": "device", "verification_uri": "https://id.example/d", "user_code": "AB-CD"])
            case "login.wait": peer.reply(request, ["login": "1", "kind": "done", "status": Samples.status()])
            default: peer.reply(request, [:])
            }
        }
        defer { [host, laptop].forEach { $0.stop() } }
        let result = try await Self.run(host, from: laptop.path, ["--device"])
        #expect(result.status == 0 && result.errors.contains("AB-CD"), "\(result)")
        #expect(host.requests.first { $0.method == "login.start" }?.params?["method"] == "device")
        let call = try LoginLend(params: laptop.requests.first { $0.method == "login.lend" }?.params)
        let code = try #require(call.comparisonCode)
        #expect(result.errors.contains("Agree only if it shows \(code)."), "\(result)")
        #expect(!(result.output + result.errors).contains("s3cret"))
    }

    @Test("the error says on which machine the agent is too old, and the sign-in is cancelled")
    func tooOld() async throws {
        let old = try Self.host(first: ["login": "1", "kind": "browser", "url": "https://id.example/authorize"])
        let laptop = try TestAgent(replies: [:])
        defer { [old, laptop].forEach { $0.stop() } }
        let here = try await Self.run(old, from: laptop.path)
        #expect(here.status == 64 && here.errors.contains("on this machine is too old"), "\(here)")
        #expect(old.requests.last?.method == "login.cancel" && laptop.requests.isEmpty)
        let host = try Self.host()
        defer { host.stop() }
        let there = try await Self.run(host, from: laptop.path)
        #expect(there.status == 64 && there.errors.contains("machine with the browser is too old"), "\(there)")
        #expect(host.requests.last?.method == "login.cancel")
    }

    @Test("the error says what to do if the other end of a forwarded socket is gone, or only its file is left")
    func unreachable() async throws {
        let host = try Self.host()
        let laptop = try TestAgent { peer, request in
            if request.method == "login.lend" { peer.end() } else { peer.reply(request, [:]) }
        }
        defer { [host, laptop].forEach { $0.stop() } }
        let gone = try await Self.run(host, from: laptop.path)
        #expect(gone.status == 69 && gone.errors.contains("the socket you forward exists there"), "\(gone)")
        // Another file is not to be removed.
        let place = host.folder + "/authd-from-laptop"
        #expect(FileManager.default.createFile(atPath: place, contents: nil))
        let other = try await Self.run(host, from: "laptop")
        #expect(other.status == 69 && !other.errors.contains("remove the file"), "\(other)")
        #expect(other.errors.contains("ssh -R \(place):"), "\(other)")
        try FileManager.default.removeItem(atPath: place)
        // A socket without a listener.
        let bind = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
        let bound = try await Child(["/usr/bin/python3", "-c", bind, place], environment: [:]).output()
        #expect(bound.status == 0, "\(bound)")
        let leftOver = try await Self.run(host, from: "laptop")
        #expect(leftOver.status == 69 && leftOver.errors.contains("remove the file"), "\(leftOver)")
        #expect(leftOver.errors.contains("ssh -R \(place):/run/user/$(id -u)/authd-extra/socket"), "\(leftOver)")
        #expect(host.requests.last?.method == "login.cancel")
    }

    @Test("an error of the other agent is shown as that of the other machine, with its exit status")
    func refused() async throws {
        let refusal = AgentError(
            .denied, "You were asked about this program, and refused.", cause: "consent_paused",
            retryAfter: .seconds(120))
        let (host, laptop) = (try Self.host(), try TestAgent(replies: ["login.lend": .failure(refusal)]))
        defer { [host, laptop].forEach { $0.stop() } }
        let result = try await Self.run(host, from: laptop.path)
        #expect(result.status == 77 && result.errors.contains("the machine with the browser: You were"), "\(result)")
        #expect(result.errors.contains("try again in 2 m"), "\(result)")
        #expect(!result.errors.contains("Continue on the machine"), "\(result)")
        #expect(host.requests.last?.method == "login.cancel")
    }

    @Test("commands for the other machine do not name the socket of this one")
    func commandsThere() async throws {
        let (host, old) = (try Self.host(), try TestAgent(replies: [:]))
        let refusal = AgentError(.agentLocked, "The agent is locked. Unlock it with `authc unlock`.")
        let locked = try TestAgent(replies: ["login.lend": .failure(refusal)])
        defer { [host, old, locked].forEach { $0.stop() } }
        for (laptop, advice) in [(old, "`authc version` there"), (locked, "Unlock it with `authc unlock`.")] {
            let result = try await Self.run(host, from: laptop.path, ["--socket", host.path])
            #expect(result.errors.contains(advice), "\(result)")
        }
    }

    @Test("authc says how to continue once the other machine has accepted the request and waits for its user")
    func accepted() async throws {
        let host = try Self.host()
        let call = Mutex<RPCRequest?>(nil)
        let laptop = try TestAgent { peer, request in
            guard request.method == "agent.ping" else { return call.withLock { $0 = request } }
            peer.reply(request, [:])
            if let call = call.withLock({ $0 }) { peer.fail(call, AgentError(.denied, "You refused.")) }
        }
        defer { [host, laptop].forEach { $0.stop() } }
        let result = try await Self.run(host, from: laptop.path)
        #expect(result.status == 77 && result.errors.contains("Agree only if it shows 6XEY7."), "\(result)")
        #expect(result.errors.contains("the machine with the browser: You refused."), "\(result)")
    }

    @Test("a browser that cannot be opened there is not a usage error, and the hint says what to do")
    func noBrowser() async throws {
        let error = AgentError(
            .internal_, "No browser was opened on the machine that lends it: xdg-open ended with status 3.",
            cause: AgentError.noBrowserCause)
        let (host, laptop) = (try Self.host(), try TestAgent(replies: ["login.lend": .failure(error)]))
        defer { [host, laptop].forEach { $0.stop() } }
        let result = try await Self.run(host, from: laptop.path)
        #expect(result.status == 70 && result.errors.contains("xdg-open ended with status 3"), "\(result)")
        #expect(result.errors.contains("whether `xdg-open https://example.org` opens a browser; or"), "\(result)")
        #expect(!result.errors.contains("--help"), "\(result)")
    }

    @Test(
        "options that contradict each other are refused",
        arguments: [["--paste"], ["--web", "--device"], ["--method", "device", "--device"]])
    func options(more: [String]) async throws {
        let host = try Self.host()
        defer { host.stop() }
        #expect(try await Self.run(host, from: "laptop", more).status == 64)
        #expect(try await Self.run(host, from: "Lap top").status == 64)
        let url = try await Program.run(
            ["login", "https://mcp.example.org/mcp", "--from", "laptop"], folder: host.folder)
        #expect(url.status == 64 && host.requests.isEmpty, "\(url)")
    }
}
