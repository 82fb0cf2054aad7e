import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

/// Hosts that share an etcd, each with its own home, state and agent.
enum SharedHosts {
    private static let key = "0123456789abcdef0123456789abcdef"
    private static let prefix = "prefix = \"/authd/ada\"\n"

    /// A host whose sessions are in etcd.
    static func play(
        _ options: EtcdMembers.Options = EtcdMembers.Options(),
        _ test: @escaping @Sendable (Scene, EtcdMembers) async throws -> Void
    ) async throws {
        try await EtcdMembers.running(options) { members in
            try await Scene.play(keyring: false) { scene in
                try configure(scene.desktop, endpoints: members.endpoints)
                try await scene.restart(["--store", "etcd"])
                try await test(scene, members)
            }
        }
    }

    private static func settings(_ desktop: Desktop) throws -> String {
        try String(contentsOfFile: desktop.folder.path + "/config/authd/authd.toml", encoding: .utf8)
    }

    /// Puts etcd into the settings of a host.
    /// - Parameter more: the other settings; `nil`: as they are.
    static func configure(_ desktop: Desktop, endpoints: [String], more: String? = nil) throws {
        let key = try desktop.folder.write(key, to: "key")
        chmod(key, 0o600)
        let etcd = """
            sealed_key = "\(key)"
            [etcd]
            endpoints = \(endpoints)

            """
        _ = try desktop.folder.write(etcd + prefix + (more ?? settings(desktop)), to: "config/authd/authd.toml")
    }

    /// Replaces the settings of a host. They take effect with a reload.
    static func changeSettings(of desktop: Desktop, _ change: (String) -> String) throws {
        _ = try desktop.folder.write(change(settings(desktop)), to: "config/authd/authd.toml")
    }

    /// Another host with the settings and profiles of the scene's, not admitted yet.
    /// - Parameter more: variables of its agent.
    static func withOther<Value: Sendable>(
        _ scene: Scene, _ members: EtcdMembers, with more: [String: String] = [:],
        _ test: (Agent) async throws -> Value
    ) async throws -> Value {
        let desktop = try await Desktop()
        let rest = try settings(scene.desktop).components(separatedBy: prefix).last ?? ""
        try configure(desktop, endpoints: members.endpoints, more: rest)
        let profiles = scene.desktop.folder.path + "/config/authd/providers"
        if FileManager.default.fileExists(atPath: profiles) {
            try FileManager.default.copyItem(
                atPath: profiles, toPath: desktop.folder.path + "/config/authd/providers")
        }
        let result: Result<Value, any Error>
        do {
            result = .success(try await withAgent(of: scene, on: desktop, with: more, test))
        } catch {
            result = .failure(error)
        }
        await desktop.end()
        return try result.get()
    }

    /// A run of the agent on another host, and its end.
    static func withAgent<Value: Sendable>(
        of scene: Scene, on desktop: Desktop, with more: [String: String] = [:],
        _ test: (Agent) async throws -> Value
    ) async throws -> Value {
        let agent = try await Agent(on: desktop, ["--store", "etcd"], with: more)
        scene.agents.withLock { $0.append(agent) }
        let result: Result<Value, any Error>
        do {
            result = .success(try await test(agent))
        } catch {
            result = .failure(error)
        }
        await agent.child.end()
        return try result.get()
    }

    /// The user carries the code from one host to the other.
    static func admit(_ other: Agent, by scene: Scene) async throws {
        // It waits 5 s for each of its questions.
        #expect(try await until { try await other.authc("doctor").out.contains("cluster not admitted") })
        let joined = try await other.authc("cluster", "join")
        #expect(joined.status == 0, "\(joined.err)")
        let code = joined.out.trimmingCharacters(in: .newlines)
        let admitted = try await scene.agent.authc("cluster", "admit", code)
        #expect(admitted.status == 0 && admitted.err.contains("Admitted"), "\(admitted.err)")
        // A code counts once.
        #expect(try await scene.agent.authc("cluster", "admit", code).status != 0)
        #expect(
            try await until { try await StoreInfo(other.json("version")["agent"]?["store"] ?? [:]).state == .ready })
    }
}
