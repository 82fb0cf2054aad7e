import AuthWire
import Foundation
import TestSupport
import Testing

/// `Sources/authd-client-python` as its users have it: built, installed, and with httpx and requests.
@Suite("The Python client", .timeLimit(.minutes(4)))
struct PythonClientTests {
    private static let source = SourceTree.path("Sources/authd-client-python")
    private static let python = SourceTree.path(".build/peers/authd-client/bin/python")
    private static let password = "p&w=1"

    private static let profile = """
        name = "notes"
        [environments]
        local = "URL"
        [sign_in.password]
        fields = [{ name = "user" }, { name = "password", kind = "password" }]
        request = { method = "POST", path = "/session", form = { name = "{user}", password = "{password}", scope = ["a"] } }
        [reply]
        access_token = "/access_token"
        refresh_token = "/refresh_token"
        [renewal]
        kind = "refresh"
        request = { method = "POST", path = "/renewal", form = { refresh_token = "{refresh_token}" } }
        """

    /// Builds the wheel without a network and returns the folder that it is installed in.
    private func install(in desktop: Desktop) async throws -> String {
        guard FileManager.default.isExecutableFile(atPath: Self.python) else {
            throw Failure("\(Self.python) is missing: run Tests/install-peers")
        }
        let wheels = desktop.folder.path + "/wheels"
        let site = desktop.folder.path + "/site"
        let pip = [Self.python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
        let wheel = "\(wheels)/authd_client-\(Release.version)-py3-none-any.whl"
        for command in [
            ["wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, Self.source],
            ["install", "--no-index", "--no-deps", "--target", site, wheel],
        ] {
            let done = try await desktop.run(pip + command)
            guard done.status == 0 else { throw Failure(done.out + done.err) }
        }
        return site
    }

    @Test("its own tests pass with the installed wheel, the real agent and a server of FastAPI; its types are complete")
    func ownTests() async throws {
        try await Scene.play { scene in
            let site = try await install(in: scene.desktop)
            #expect(FileManager.default.fileExists(atPath: site + "/authd_client/py.typed"))
            try await Peer.running(.fastAPI, [Self.password], in: scene.desktop) { server in
                try await scene.addProfile(Self.profile.replacing("URL", with: server.url), named: "notes")
                let facts: JSON = [
                    "url": .string(server.url), "provider": "notes", "password": .string(Self.password),
                ]
                let tests = try await scene.desktop.run(
                    [Self.python, "-B", "-m", "pytest", "-p", "no:cacheprovider", Self.source + "/tests"],
                    with: ["PYTHONPATH": site, "AUTHD_TEST": facts.text()])
                #expect(tests.status == 0 && !tests.out.contains(" skipped"), "\(tests.out)\(tests.err)")
                let types = try await scene.desktop.run(
                    [
                        Self.python, "-m", "mypy", "--strict", "--cache-dir", scene.desktop.folder.path + "/mypy",
                        "-p", "authd_client",
                    ], with: ["MYPYPATH": site])
                #expect(types.status == 0, "\(types.out)\(types.err)")
            }
        }
    }

    @Test("keyring and pip get a token by way of keyring's backend, for the session's origin only")
    func keyringBackend() async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            let site = try await install(in: scene.desktop)
            let done = try await scene.run(
                """
                export PYTHONPATH=\(site) PYTHONDONTWRITEBYTECODE=1
                keyring() { \(Self.python) -m keyring "$@"; }
                keyring get \(server.url)/simple ada; keyring get https://elsewhere.example/simple ada; echo $?
                \(Self.python) -m pip --no-cache-dir --disable-pip-version-check --keyring-provider import download \
                    --quiet --no-deps -d got --index-url \(server.url)/simple one < /dev/null && ls got
                authc logout -s forge; keyring get \(server.url)/simple ada; echo $?
                """)
            #expect(done.out.hasPrefix("token-1\n1\none-1.0-py3-none-any.whl\n"), "\(done.out)\(done.err)")
            #expect(done.out.hasSuffix("\n1\n") && !done.err.contains("token-"), "\(done.out)\(done.err)")
        }
    }

    @Test("it knows the same methods without secrets, the same errors that may pass, and the same version")
    func sameAsTheProtocol() throws {
        func names(of name: String, in file: String) throws -> Set<String> {
            let text = try String(contentsOfFile: Self.source + "/authd_client/" + file, encoding: .utf8)
            let list = try #require(text.components(separatedBy: "\(name) = frozenset([").last)
            let end = try #require(list.firstRange(of: "])")).lowerBound
            return Set(list[..<end].matches(of: /"([a-z._]+)"/).map { String($0.1) })
        }
        let plain = AgentMethods.all.filter { $0.secrecy != .ownAgentOnly }.map { $0.name }
        #expect(try names(of: "PLAIN_METHODS", in: "_protocol.py") == Set(plain))
        let retryable = ErrorKind.allCases.filter(\.retryableByDefault).map(\.rawValue)
        #expect(try names(of: "_RETRYABLE", in: "_errors.py") == Set(retryable))
        for (file, line) in [
            ("pyproject.toml", "\nversion = \"\(Release.version)\"\n"),
            ("authd_client/__init__.py", "\n__version__ = \"\(Release.version)\"\n"),
        ] {
            #expect(try String(contentsOfFile: Self.source + "/" + file, encoding: .utf8).contains(line))
        }
    }
}
