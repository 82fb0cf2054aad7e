import AuthWire
import TestSupport
import Testing

/// logind and NetworkManager (python-dbusmock) on a private system bus.
@Suite("Sleep, and NetworkManager's state", .serialized, .timeLimit(.minutes(2)))
struct SleepTests {
    @Test("case 6: a token that expires during sleep is renewed after it, after a probe of the provider")
    func sleep() async throws {
        let bus = try await MockBus([.logind])
        try await NetworkLab.play(
            { lab, _ in
                try lab.setLife(seconds: 2)
                #expect(try await lab.authc("refresh").status == 0)
                let watch = try await lab.watch()
                try await bus.waitForInhibitor(true)
                try await bus.emitSleep(true)
                try await bus.waitForInhibitor(false)
                let before = lab.provider.out.text
                // The machine is about to sleep: the token expires, and nothing is sent.
                #expect(await watch.out.wait(for: #""state":"stale""#))
                #expect(lab.provider.out.text == before)
                // It may have expired before the first event.
                let wasActive = watch.out.text.ranges(of: #""state":"active""#).count
                try lab.setLife(seconds: 3600)
                try await bus.emitSleep(false)
                try await bus.waitForInhibitor(true)
                #expect(await watch.out.wait(for: #""state":"active""#, times: wasActive + 1))
                let asked = lab.provider.out.text.dropFirst(before.count).split(separator: "\n")
                #expect(asked.first?.hasPrefix("GET /me 401 bare") == true, "\(asked)")
                #expect(asked.count { $0.hasPrefix("POST /refresh 200") } == 1, "\(asked)")
                await watch.end()
                #expect(try await lab.network().providers["lab"] == "reachable")
            }, with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    @Test("NetworkManager's portal is the state until it reports success")
    func networkManager() async throws {
        let bus = try await MockBus([.networkmanager])
        try await bus.setConnectivity(4)
        try await NetworkLab.play(
            { lab, agent in
                let readings = try await lab.watch()
                try await bus.setConnectivity(2)
                #expect(await readings.out.wait(for: #""state":"portal""#))
                #expect(try await lab.authc("refresh").status == 75)
                let passed = try await lab.watch()
                try await bus.setConnectivity(4)
                #expect(await passed.out.wait(for: #""state":"online""#))
                #expect(try await lab.authc("refresh").status == 0)
                for watch in [readings, passed] { await watch.end() }
                // The system bus ends, and the agent continues.
                await bus.end()
                #expect(try await lab.authc("refresh").status == 0)
                #expect(try await lab.authc("network").status == 0)
            }, with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    @Test("a NetworkManager that never replies delays neither the start nor a call")
    func hungNetworkManager() async throws {
        let bus = try await MockBus([.networkmanager])
        bus.stopAnswering()
        try await NetworkLab.play(
            { lab, _ in
                #expect(try await lab.authc("refresh").status == 0)
                #expect(try await lab.network().state == .online)
                try await lab.onGateway("ip link set far down")
                let watch = try await lab.watch()
                #expect(await watch.out.wait(for: #""state":"offline""#))
                await watch.end()
            }, with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        await bus.end()
    }
}
