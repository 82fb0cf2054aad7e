import AuthWire
import Foundation
import TestSupport
import Testing

/// logind and NetworkManager played by python-dbusmock on a system bus of the test's own.
@Suite("Sleep, and NetworkManager's word", .serialized, .timeLimit(.minutes(2)))
struct SleepTests {
    @Test("case 6: before sleep the lock is let go of, after it the provider is asked first and the session goes on")
    func sleep() async throws {
        let bus = try await MockBus(["logind"])
        try await Lab.play(
            { lab, _ in
                try await bus.waitForInhibitor(true)
                try await bus.emitSleep(true)
                try await bus.waitForInhibitor(false)
                let before = lab.provider.out.text.count
                try await bus.emitSleep(false)
                try await bus.waitForInhibitor(true)
                #expect(await lab.provider.out.wait(for: "GET /me 401 bare"))
                #expect(lab.provider.out.text.count > before)
                #expect(try await lab.authc("refresh").status == 0)
                #expect(try await lab.network().providers["lab"] == "reachable")
            }, with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    @Test("NetworkManager's word of a portal is the state until it says that all is well")
    func networkManager() async throws {
        let bus = try await MockBus(["networkmanager"])
        try await bus.setConnectivity(4)
        try await Lab.play(
            { lab, agent in
                let met = try await lab.watch()
                try await bus.setConnectivity(2)
                #expect(await met.out.wait(for: #""state":"portal""#))
                #expect(try await lab.authc("refresh").status == 75)
                let passed = try await lab.watch()
                try await bus.setConnectivity(4)
                #expect(await passed.out.wait(for: #""state":"online""#))
                #expect(try await lab.authc("refresh").status == 0)
                for watch in [met, passed] { await watch.end() }
                // The system bus goes, and the agent stays.
                await bus.end()
                #expect(try await lab.authc("refresh").status == 0)
                #expect(try await lab.authc("network").status == 0)
            }, with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    @Test("a NetworkManager that never answers delays neither the start nor a call")
    func hungNetworkManager() async throws {
        let bus = try await MockBus(["networkmanager"])
        bus.stopAnswering()
        try await Lab.play(
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

/// A private system bus with services of python-dbusmock on it.
final class MockBus: Sendable {
    let address: String
    private let folder: TemporaryFolder
    private let bus: Child
    private let services: [Child]
    private let environment: [String: String]

    init(_ templates: [String]) async throws {
        folder = try TemporaryFolder()
        address = "unix:path=\(folder.path)/bus"
        let configuration = try folder.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/></policy></busconfig>
            """, to: "bus.conf")
        environment = [
            "DBUS_SYSTEM_BUS_ADDRESS": address, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "HOME": folder.path, "LANG": "C.UTF-8",
        ]
        bus = try await Child(
            ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=1"],
            environment: environment)
        guard await bus.out.wait(for: "unix:path=") else { throw Failure("no bus: \(bus.err.text)") }
        var services: [Child] = []
        for template in templates {
            services.append(
                try await Child(
                    [Lab.python, "-m", "dbusmock", "--system", "--template", template], environment: environment))
        }
        self.services = services
        for template in templates {
            let name = template == "logind" ? "org.freedesktop.login1" : "org.freedesktop.NetworkManager"
            _ = try await run(["gdbus", "wait", "--system", "--timeout", "20", name])
        }
    }

    func end() async {
        for service in services {
            service.kill(SIGCONT)
            await service.end(SIGKILL)
        }
        await bus.end()
    }

    /// As a hung service: it owns its name, and answers nothing.
    func stopAnswering() {
        for service in services { service.kill(SIGSTOP) }
    }

    func setConnectivity(_ number: Int) async throws {
        try await call("NetworkManager", "/org/freedesktop/NetworkManager", ".Mock.SetConnectivity", "uint32 \(number)")
        if number == 4 {
            try await call(
                "NetworkManager", "/org/freedesktop/NetworkManager", ".Mock.SetGlobalConnectionState", "uint32 70")
        }
    }

    func emitSleep(_ isGoing: Bool) async throws {
        try await call(
            "login1", "/org/freedesktop/login1", ".Mock.EmitSignal", "org.freedesktop.login1.Manager",
            "PrepareForSleep", "b", "[<\(isGoing)>]")
    }

    /// Asks until it is so; each question is a round trip.
    func waitForInhibitor(_ wanted: Bool) async throws {
        for _ in 1...400 {
            let list = try await run([
                "gdbus", "call", "--system", "--dest", "org.freedesktop.login1", "--object-path",
                "/org/freedesktop/login1", "--method", "org.freedesktop.login1.Manager.ListInhibitors",
            ])
            if list.contains("'authd'") == wanted { return }
        }
        throw Failure("the lock is \(wanted ? "not taken" : "still held")")
    }

    private func call(_ name: String, _ path: String, _ method: String, _ arguments: String...) async throws {
        _ = try await run(
            [
                "gdbus", "call", "--system", "--dest", "org.freedesktop.\(name)", "--object-path", path, "--method",
                "org.freedesktop.DBus\(method)",
            ] + arguments)
    }

    private func run(_ command: [String]) async throws -> String {
        let output = try await Child(command, environment: environment).output()
        guard output.status == 0 else { throw Failure("\(command): \(output.err)") }
        return output.out
    }
}
