import AuthClient
import AuthConcurrency
import AuthFiles
import AuthFront
import AuthGateway
import AuthHTTP
import AuthModel
import AuthWire
import Glibc
import NIOPosix

/// `authd-gateway proxy`: from its sockets to the exit status.
struct ProxyProgram: Sendable {
    let arguments: ProxyArguments
    let signals: EndSignals

    /// Ends the process.
    func run() async -> Never {
        await GatewayProcess.end { () async throws(GatewayMistake) in try await serve() }
    }

    private func serve() async throws(GatewayMistake) {
        if arguments.onlyPrints, case .loopback(_, let port) = arguments.listen, port == 0 || arguments.keyFile == nil {
            // Each start has another port or another key.
            throw .usage("--url needs --key-file and a port")
        }
        let tokens = try tokenSource()
        let found = try await target(tokens)
        let address = if let chosen = arguments.listen { chosen } else { try usualAddress(of: found?.session) }
        let isPort = arguments.sockets.isEmpty ? address.isPort : arguments.sockets.contains { $0.address.isPort }
        let key = isPort ? try frontKey() : nil
        if arguments.onlyPrints { return await show([address], key, found?.target) }
        let sockets = arguments.sockets.isEmpty ? [try open(address)] : arguments.sockets
        // One loop for both sides of a request: its bytes never change the thread.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        // Each of its connections may need one.
        let transport = try GatewayProcess.transport(group, connectionsPerOrigin: arguments.limits.connections)
        let service = ProxyService(
            transport: transport, tokens: tokens, responseTime: arguments.responseTime)
        let access = FrontAccess(
            key: key, keyPlaces: [.path, .header("authd-key")], webOrigins: arguments.webOrigins)
        let server = FrontServer(
            sockets, access: access, limits: arguments.limits, service: service, group: group)
        do {
            try await server.listen()
        } catch {
            throw GatewayMistake(text: "cannot listen: \(error)", status: 70)
        }
        signals.handle()
        await show(sockets.map(\.address), key, found?.target)
        _ = await signals.next()
        await server.drain()
        await transport.shutdown()
    }

    /// On standard output, where nobody but the one who has started the program reads the key. The journal has other readers.
    private func show(_ addresses: [FrontAddress], _ key: FrontKey?, _ target: ProxyTarget?) async {
        let output = LineWriter()
        let keyPath = key.map { "/" + (Self.printsToJournal ? "KEY" : $0.reveal()) } ?? ""
        for address in addresses {
            let path = (address.isPort ? keyPath : "") + (target?.basePath ?? "")
            output.write(Array((address.isPort ? "http://\(address)\(path)" : "\(address)").utf8))
        }
        await output.flush(within: .seconds(1))
    }

    private func tokenSource() throws(GatewayMistake) -> ProxyTokens {
        do throws(AgentError) {
            let client = try AuthClient(socket: arguments.socket, requiresOwnAgent: arguments.socket == nil)
            return ProxyTokens(client: client, session: arguments.session, server: arguments.server)
        } catch {
            throw .usage(error.message)
        }
    }

    /// A service may start before the session can be read; the first request asks again then.
    private func target(
        _ tokens: ProxyTokens
    ) async throws(GatewayMistake) -> (session: SessionName, target: ProxyTarget)? {
        do throws(ClientError) {
            return try await tokens.target()
        } catch {
            guard arguments.sockets.isEmpty else { return nil }
            throw GatewayMistake(text: tokens.problem(error).detail, status: error.exitStatus)
        }
    }

    private func frontKey() throws(GatewayMistake) -> FrontKey {
        guard let file = arguments.keyFile else {
            // Nobody would learn a random one.
            if Self.printsToJournal { throw .settings("a service needs --key-file") }
            var source = SystemRandomNumberGenerator()
            return FrontKey(using: &source)
        }
        do throws(AgentError) {
            return try FrontKeyFile.read(file)
        } catch {
            throw .settings(error.message)
        }
    }

    /// Whether stdout is the stream that systemd connected to the journal (`JOURNAL_STREAM`, systemd.exec(5)).
    private static var printsToJournal: Bool {
        guard let stream = environmentValue("JOURNAL_STREAM"), let output = FileStatus(of: STDOUT_FILENO) else {
            return false
        }
        return stream == "\(output.device):\(output.inode)"
    }

    private func open(_ address: FrontAddress) throws(GatewayMistake) -> FrontSocket {
        do throws(FrontSocket.Refusal) {
            return try FrontSocket.open(address)
        } catch {
            throw GatewayMistake(text: "\(error)", status: 70)
        }
    }

    /// `$XDG_RUNTIME_DIR/authd-proxy/NAME`
    private func usualAddress(of session: SessionName?) throws(GatewayMistake) -> FrontAddress {
        .unix(path: try GatewayProcess.runtimeFolder().socket(of: .proxies, named: session?.text ?? "default"))
    }
}

extension FrontAddress {
    fileprivate var isPort: Bool { if case .loopback = self { true } else { false } }
}
