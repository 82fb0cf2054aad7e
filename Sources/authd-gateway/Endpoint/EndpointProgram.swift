import AuthClient
import AuthFiles
import AuthFront
import AuthGateway
import AuthHTTP
import AuthModel
import AuthWire
import NIOPosix

/// `authd-gateway http`: the local HTTP endpoint from its sockets to the exit status.
struct EndpointProgram: Sendable {
    let arguments: EndpointArguments
    let signals: EndSignals

    /// Ends the process.
    func run() async -> Never {
        await GatewayProcess.end { () async throws(GatewayMistake) in try await serve() }
    }

    private func serve() async throws(GatewayMistake) {
        guard let folder = EndpointFolder(environment: environmentValue) else {
            throw .usage("there is no folder for the programs, because HOME is not set")
        }
        let clients = EndpointClients(folder)
        let agent = try Self.agent(socket: arguments.socket)
        // A service may start before the agent does. By hand, it is a mistake.
        if arguments.sockets.isEmpty { try await check(agent) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let transport = try GatewayProcess.transport(group, connectionsPerOrigin: EndpointFolder.mostClients)
        let service = EndpointService(
            clients: clients, agent: agent, exchange: CredentialExchange(agent: agent, transport: transport))
        let sockets = try openSockets()
        var servers = [
            // The keys are the programs' own: EndpointService compares them.
            FrontServer(
                sockets, access: FrontAccess(), service: WholeResponses { await service.respond(to: $0) }, group: group)
        ]
        var addresses = sockets.map { Self.shown($0.address) }
        for (name, port) in clients.metadataPorts(Note.write) {
            guard let socket = Self.openPort(port, of: name) else { continue }
            let metadata = MetadataService(name: name, port: port, clients: clients, agent: agent)
            servers.append(
                FrontServer(
                    [socket], access: FrontAccess(), service: WholeResponses { await metadata.respond(to: $0) },
                    group: group))
            addresses.append("\(Self.shown(socket.address)) \(name)")
        }
        do {
            for server in servers { try await server.listen() }
        } catch {
            throw GatewayMistake(text: "cannot listen: \(error)", status: 70)
        }
        signals.handle()
        await show(addresses)
        _ = await signals.next()
        await withDiscardingTaskGroup { group in
            for server in servers { group.addTask { await server.drain() } }
        }
        await transport.shutdown()
    }

    static func agent(socket: String?) throws(GatewayMistake) -> EndpointAgent {
        do throws(AgentError) {
            return EndpointAgent(client: try AuthClient(socket: socket, requiresOwnAgent: socket == nil))
        } catch {
            throw .usage(error.message)
        }
    }

    private func check(_ agent: EndpointAgent) async throws(GatewayMistake) {
        do throws(FrontProblem) {
            try await agent.check()
        } catch {
            throw GatewayMistake(text: error.detail, status: error.exitStatus)
        }
    }

    private func openSockets() throws(GatewayMistake) -> [FrontSocket] {
        guard arguments.sockets.isEmpty else { return arguments.sockets }
        var addresses = arguments.listen
        if arguments.hasUnixSocket {
            addresses.append(.unix(path: try GatewayProcess.runtimeFolder().socket(of: .endpoint)))
        }
        var sockets: [FrontSocket] = []
        do throws(FrontSocket.Refusal) {
            for address in addresses { sockets.append(try FrontSocket.open(address)) }
        } catch {
            throw GatewayMistake(text: "\(error)", status: 70)
        }
        return sockets
    }

    /// One program's port must not keep the others from being served.
    private static func openPort(_ port: Int, of name: ClientName) -> FrontSocket? {
        do throws(FrontSocket.Refusal) {
            return try FrontSocket.open(.loopback(host: "127.0.0.1", port: port))
        } catch {
            Note.write("the program '\(name)' is not served: \(error)")
            return nil
        }
    }

    private static func shown(_ address: FrontAddress) -> String {
        if case .loopback = address { "http://\(address)" } else { "\(address)" }
    }

    private func show(_ addresses: [String]) async {
        let output = LineWriter()
        for address in addresses { output.write(Array(address.utf8)) }
        await output.flush(within: .seconds(1))
    }
}
