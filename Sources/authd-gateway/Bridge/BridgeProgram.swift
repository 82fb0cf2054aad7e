import AuthAgent
import AuthClient
import AuthConcurrency
import AuthGateway
import AuthHTTP
import AuthModel
import AuthWire
import Glibc
import NIOPosix

/// `authd-gateway mcp URL`: the bridge from its pipes to the server, from the first line to the exit status.
struct BridgeProgram: Sendable {
    let arguments: BridgeArguments
    let signals: EndSignals

    /// Ends the process.
    func run() async -> Never {
        await GatewayProcess.end { () async throws(GatewayMistake) in try await bridge() }
    }

    /// Ends the process, unless it cannot begin.
    private func bridge() async throws(GatewayMistake) {
        signals.handle()
        let target = BridgeTarget(arguments.url, session: arguments.session)
        let tokens = try tokenSource(target)
        let end = OneShot<Void>()
        let output = LineWriter()
        let notes = NoteWriter()
        let input = LineInput()
        let performer = BridgePerformer(
            transport: try transport(), responseTime: arguments.responseTime, tokens: tokens, output: output,
            notes: notes, input: input, end: end)
        let tasks = AgentTasks(clock: GatewayClock())
        let runner = Runner(BridgeMachine(target), performer: performer, tasks: tasks)
        let ending = OneShot<Int32>()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await tasks.run() }
            group.addTask { await input.read(into: runner, writing: output) }
            group.addTask {
                // Nobody reads what is written.
                if await output.closed.value() != nil { await runner.send(.stop) }
            }
            group.addTask { [signals] in
                guard let number = await signals.next() else { return }
                ending.send(128 + number)
                await runner.send(.stop)
            }
            _ = await end.value()
            await output.flush(within: Self.flushTime)
            await notes.flush(within: Self.flushTime)
            ending.send(0)
            // Open connections, and threads that wait for input or a signal, end with the process.
            exit(await ending.value() ?? 0)
        }
    }

    /// For the last lines, if the program reads slowly.
    private static let flushTime = Duration.milliseconds(250)

    private func tokenSource(_ target: BridgeTarget) throws(GatewayMistake) -> TokenSource {
        let preferred = environmentValue("AUTHD_SESSION").flatMap { try? SessionName($0) }
        do throws(AgentError) {
            let client = try AuthClient(socket: arguments.socket, requiresOwnAgent: arguments.socket == nil)
            return TokenSource(target: target, client: client, preferred: preferred)
        } catch {
            throw .usage(error.message)
        }
    }

    private func transport() throws(GatewayMistake) -> AsyncHTTPTransport {
        var configuration = AsyncHTTPTransport.Configuration(
            version: Release.version, settings: try GatewayProcess.settings(), environment: GatewayProcess.environment)
        // Each request may hold one, and so does the stream of the server.
        configuration.limits.connectionsPerOrigin = BridgeLimits.pendingRequests + 8
        do throws(TransportSettingsError) {
            let transport = try AsyncHTTPTransport(
                configuration, group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            for notice in transport.notices { Note.write(notice) }
            return transport
        } catch {
            throw .settings("\(error)")
        }
    }
}
