import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@testable import AuthAgent

@Suite("The guarded transport", .timeLimit(.minutes(1)))
struct GuardedTransportTests {
    private static let url = "https://provider.example/token"

    /// A monitor that runs until its task is cancelled.
    private static func monitor(
        of readings: AsyncStream<NetworkReading>, _ transport: ScriptedTransport
    ) -> (NetworkMonitor, Task<Void, Never>) {
        let tasks = AgentTasks(clock: ManualClock())
        let monitor = NetworkMonitor(
            watch: FedNetwork(stream: readings), sleep: NeverSleeps(), transport: transport, tasks: tasks)
        let run = Task {
            async let work: Void = tasks.run()
            await monitor.run(
                NetworkMonitor.Reactions(
                    publish: { _, _ in }, publishSkews: { _ in }, publishMetered: { _ in }, connectionsEnd: {},
                    notifySessions: {},
                    prepareForSleep: {}, clockSet: {})
            )
            await work
        }
        return (monitor, run)
    }

    /// What happens while a renewal waits for the first probe.
    enum Change: Sendable { case portal, offline, online }

    @Test(
        "a renewal that waits for the network is sent if the provider is reached, and never into a portal or offline",
        arguments: [
            (Change.portal, TransportError.portal), (.offline, .offline(reason: "no link leads out of it")),
            (.online, nil),
        ]
            as [(Change, TransportError?)])
    func waiting(change: Change, error: TransportError?) async throws {
        let hold = Hold()
        let probes = ScriptedTransport { _ throws(TransportError) in
            guard await hold.pass() else { throw .cancelled }
            if change == .portal { throw .redirected(toOrigin: "https://portal.example") }
            return ExampleProvider.json(200, "{}")
        }
        let calls = ScriptedTransport { _ throws(TransportError) in ExampleProvider.json(200, "{}") }
        let (readings, network) = AsyncStream.makeStream(of: NetworkReading.self)
        network.yield(NetworkReading(reach: .internet))
        let (monitor, run) = Self.monitor(of: readings, probes)
        let guarded = GuardedTransport(calls, network: monitor)
        let renewal = Task { () async -> TransportError? in
            do throws(TransportError) {
                _ = try await guarded.send(HTTPRequest(method: "POST", url: Self.url, headers: [], body: nil))
                return nil
            } catch {
                return error
            }
        }
        // The renewal waits for the probe.
        await hold.isReached()
        #expect(calls.asked.isEmpty)
        if change == .offline { network.yield(NetworkReading(reach: .offline)) } else { hold.release() }
        #expect(await renewal.value == error)
        #expect(calls.asked == (error == nil ? ["POST \(Self.url)"] : []))
        hold.release()
        run.cancel()
        await run.value
    }
}

extension GuardedTransportTests {
    /// As at a provider whose start page is on another host.
    @Test("a redirect to another host over HTTPS is the provider's own, in a probe and in a call")
    func ownRedirect() async throws {
        let transport = ScriptedTransport { request throws(TransportError) in
            guard request.acceptsRedirects || request.url == Self.url else {
                throw .redirected(toOrigin: "https://about.example")
            }
            guard request.url == Self.url else {
                return HTTPResponse(status: 302, headers: [("Location", "https://about.example/")], body: [])
            }
            return ExampleProvider.json(200, "{}")
        }
        let (readings, network) = AsyncStream.makeStream(of: NetworkReading.self)
        network.yield(NetworkReading(reach: .internet))
        let (monitor, run) = Self.monitor(of: readings, transport)
        let guarded = GuardedTransport(transport, network: monitor)
        let elsewhere = HTTPRequest(method: "GET", url: "https://provider.example/moved")
        for _ in 1...3 {
            _ = try await guarded.send(HTTPRequest(method: "POST", url: Self.url))
            await #expect(throws: TransportError.redirected(toOrigin: "https://about.example")) {
                try await guarded.send(elsewhere)
            }
        }
        run.cancel()
        await run.value
    }
}

/// Readings that the test yields.
struct FedNetwork: NetworkWatch {
    let stream: AsyncStream<NetworkReading>

    func readings() -> AsyncStream<NetworkReading> { stream }
}
