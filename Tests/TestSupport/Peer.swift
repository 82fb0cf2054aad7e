import Foundation

/// A server for one test, set up by a small program in `peers`, mostly with third-party software from PyPI.
///
/// `Tests/install-peers` installs what the program needs. The program listens on a port of the system's choice and prints
/// `port N` as its first line.
package final class Peer: Sendable {
    /// A program, and the environment of `Tests/python-packages.txt` that it runs in, if it needs one.
    package struct Program: Sendable {
        let packages: String?
        let file: String

        package init(_ file: String, with packages: String? = nil) {
            self.file = file
            self.packages = packages
        }

        package func command(_ arguments: [String] = []) throws -> [String] {
            let python = packages.map { Self.folder(of: $0) + "/python" } ?? "/usr/bin/python3"
            guard FileManager.default.isExecutableFile(atPath: python) else {
                throw Failure("\(packages ?? python) is not installed: run Tests/install-peers")
            }
            // Unbuffered, and nothing is written beside the sources.
            return [python, "-u", "-B", Self.here.appending(path: "peers/\(file)").path] + arguments
        }

        private static let here = URL(filePath: #filePath).deletingLastPathComponent()

        static func folder(of packages: String) -> String {
            let root = here.deletingLastPathComponent().deletingLastPathComponent()
            return root.appending(path: ".build/peers/\(packages)/bin").path
        }

        /// An authorization server and API of django-oauth-toolkit.
        package static let django = Program("django-server.py", with: "django-oauth-toolkit")
        /// A backend of Django REST framework, with its ways of paging, and Django's own sign-in page. Its argument is Ada's
        /// password.
        package static let djangoREST = Program("django-rest-server.py", with: "django-rest")
        /// An authorization server of Authlib, which compares redirect URIs exactly.
        package static let authlib = Program("authlib-server.py", with: "authlib")
        /// The authorization server and a protected resource of the MCP SDK.
        package static let mcp = Program("mcp-server.py", with: "mcp")
        /// An authorization server of the MCP SDK for resources elsewhere.
        package static let mcpIssuer = Program("mcp-issuer.py", with: "mcp")
        /// A protected resource of the MCP SDK. Its argument is the URL of its authorization server.
        package static let mcpResource = Program("mcp-resource.py", with: "mcp")
        /// Not a server: the SDK's client. Its arguments are authc, the URL and the session.
        package static let mcpClient = Program("mcp-client.py", with: "mcp")
        /// Not a server: the SDK's client of a server that is a command. Its arguments are authc, the URL, the mode and tools.
        package static let bridgeClient = Program("bridge-client.py", with: "mcp")
        /// A stand-in for servers that misbehave. Its argument says how.
        package static let hostileMCP = Program("hostile-mcp-server.py")
        /// A stand-in for providers that misbehave, with TLS, HTTP/2 and OpenID Connect. Its argument is a folder.
        package static let hostileProvider = Program("hostile-provider.py", with: "authlib")
        /// Not a server: becomes the command that follows, to which the kernel refuses filters of system calls.
        package static let noFilters = Program("no-filters.py")
        /// Not a server: compares profiles with their JSON Schema.
        package static let profileSchema = Program("profile-schema.py", with: "jsonschema")
        /// A backend of FastAPI, with forms and tokens in several places. Its argument is Ada's password.
        package static let fastAPI = Program("fastapi-server.py", with: "fastapi")
        /// An MCP server of FastMCP with its own authorization server.
        package static let fastMCP = Program("fastmcp-server.py", with: "fastmcp")
        /// A protected resource and its server, as the test wants them; it needs no package.
        package static let resource = Program("resource-server.py", with: "mcp")
        /// django-allauth's headless API, with a second factor.
        package static let allauth = Program("allauth-server.py", with: "django-allauth")
        /// moto's Cognito.
        package static let cognito = Program("cognito-server.py", with: "moto")
        /// git's http-backend, a Docker registry, a Kubernetes API and registries of packages behind one sign-in.
        package static let programs = Program("program-server.py")
        /// moto's Security Token Service, and a backend whose tokens it gets.
        package static let sts = Program("sts-server.py", with: "moto")
        /// dovecot, which accepts the tokens of a small backend. Its argument is a folder.
        package static let mail = Program("mail-server.py")
        /// A certificate authority for ssh, which signs with ssh-keygen. Its argument is a folder.
        package static let sshAuthority = Program("ssh-authority.py")
        /// Not a server: Google's library, which finds its metadata server in the environment.
        package static let googleClient = Program("google-client.py", with: "google-auth")
        /// Not a server: reads metrics with Prometheus's library. Its argument is their format.
        package static let metricsReader = Program("metrics-reader.py", with: "prometheus")
        /// Not a server: a client of the session bus.
        package static let busClient = Program("bus-client.py")
        /// An API with a sign-in, streams and WebSockets.
        package static let proxied = Program("proxy-server.py", with: "fastmcp")
        /// Not a server: a client of websockets. Its arguments are the URL, the path of a Unix socket or "-", and a header.
        package static let webSocket = Program("websocket-client.py", with: "fastmcp")
        /// An API whose WebSockets begin in unusual ways.
        package static let unusualWebSockets = Program("websocket-server.py", with: "fastmcp")
        /// Not a server: a client of websockets that does not wait for the response. Its arguments are the URL and the
        /// path of a Unix socket.
        package static let earlyWebSocket = Program("websocket-early.py", with: "fastmcp")
        /// A member of etcd that misbehaves. Its argument says how.
        package static let hostileEtcd = Program("hostile-etcd.py")
        /// A stand-in with keys, and with sign-ins of several requests.
        package static let signIn = Program("sign-in-server.py")
    }

    /// A program of an environment of `Tests/python-packages.txt`.
    package static func program(_ name: String, of packages: String) throws -> String {
        let path = Program.folder(of: packages) + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure("\(packages) is not installed: run Tests/install-peers")
        }
        return path
    }

    package let port: Int
    package var url: String { "http://127.0.0.1:\(port)" }
    /// What it has printed.
    package var output: Gathered { child.out }
    private let child: Child

    private init(_ child: Child, port: Int) {
        self.child = child
        self.port = port
    }

    package static func running(
        _ program: Program, _ arguments: [String] = [], in desktop: Desktop,
        _ test: @Sendable (Peer) async throws -> Void
    ) async throws {
        let child = try await Child(program.command(arguments), environment: desktop.environment, input: .held)
        guard await child.out.wait(for: "\n"),
            let port = child.out.text.firstMatch(of: /port ([0-9]+)/)?.1, let port = Int(port)
        else {
            await child.end(SIGKILL)
            throw Failure("\(program.file) did not start: \(await child.err.all())")
        }
        let result: Result<Void, any Error>
        do {
            try await test(Peer(child, port: port))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await child.end(SIGKILL)
        try result.get()
    }

    /// Ends it before the test does.
    package func end() { child.kill(SIGKILL) }

    /// The next line that a program on the other side of its pipes is to read.
    package func tell(_ line: String) { child.tell(line) }
}
