import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Access to etcd", .timeLimit(.minutes(1)))
struct EtcdAccessTests {
    @Test("uses TLS with a certificate of the client, and trusts only the CA of the settings")
    func certificates() async throws {
        var options = EtcdMembers.Options()
        options.certificates = try await EtcdCertificates()
        try await EtcdMembers.running(options) { members in
            var host = try EtcdHost()
            host.certificates = options.certificates
            try await host.start(at: members.endpoints) { store in
                let changes = store.changes()
                try await store.save(etcdSample())
                // The watch uses it, too.
                let name = try SessionName("work")
                #expect(await changes.first { $0 == name } == name)
                #expect(try await store.load(name) != nil)
            }
            // Without a certificate, and with those of another authority.
            for other in [nil, try await EtcdCertificates()] {
                var host = try EtcdHost("stranger")
                host.certificates = other
                try await host.start(at: members.endpoints, watches: false) { store in
                    let fault = await store.fault { store throws(StoreError) in _ = try await store.loadAll() }
                    #expect(fault?.name == "cluster_unreachable")
                    #expect(fault?.message.contains("certificate") ?? false, "\(fault?.message ?? "")")
                }
            }
        }
    }

    @Test("needs a role for the prefix of the user only")
    func role() async throws {
        try await EtcdMembers.running { members in
            try await members.requireUsers("ada", password: "secret-1", prefix: "/authd/ada/")
            var host = try EtcdHost()
            host.user = .init(name: "ada", password: { Secret("secret-1") })
            try await host.start(at: members.endpoints) { store in
                let changes = store.changes()
                try await store.save(etcdSample())
                let name = try SessionName("work")
                #expect(await changes.first { $0 == name } == name)
                #expect(try await store.loadAll().count == 1)
            }
            var other = try EtcdHost("eve")
            other.prefix = "/authd/eve"
            other.user = host.user
            try await other.start(at: members.endpoints, watches: false) { store in
                let fault = await store.fault { store throws(StoreError) in _ = try await store.loadAll() }
                #expect(fault == .denied(reason: "etcdserver: permission denied"))
            }
            for wrong in [EtcdUser(name: "ada", password: { Secret("wrong") }), nil] {
                host.user = wrong
                try await host.start(at: members.endpoints, watches: false) { store in
                    let fault = await store.fault { store throws(StoreError) in _ = try await store.loadAll() }
                    #expect(fault?.name == "cluster_denied")
                }
            }
            #expect(try await !members.dump("/authd", user: "root:root").contains("secret-1"))
        }
    }

    @Test("with a certificate and a user needs a certificate without a common name", arguments: [false, true])
    func certificateOfUser(isOld: Bool) async throws {
        var options = EtcdMembers.Options()
        if !isOld { options.programs = try .pypi() }
        options.certificates = try await EtcdCertificates()
        try await EtcdMembers.running(options) { members in
            try await members.requireUsers("ada", password: "secret-1", prefix: "/authd/ada/")
            var host = try EtcdHost()
            host.certificates = options.certificates
            host.user = .init(name: "ada", password: { Secret("secret-1") })
            try await host.start(at: members.endpoints) { store in
                let changes = store.changes()
                try await store.save(etcdSample())
                let name = try SessionName("work")
                #expect(await changes.first { $0 == name } == name)
            }
            host.isNamed = true
            try await host.start(at: members.endpoints) { store in
                let fault = await store.fault { store throws(StoreError) in _ = try await store.loadAll() }
                #expect(fault?.name == "cluster_denied")
                #expect(fault?.message.contains("common name") ?? false, "\(fault?.message ?? "")")
            }
        }
    }

    @Test("gets a new token when etcd has forgotten the former one, and when the password has changed")
    func tokens() async throws {
        try await EtcdMembers.running { members in
            try await members.requireUsers("ada", password: "secret-1", prefix: "/authd/ada/")
            var host = try EtcdHost()
            let password = Password("secret-1")
            host.user = .init(name: "ada", password: { password.current })
            try await host.start(at: members.endpoints) { store in
                let faults = store.faults()
                try await store.save(etcdSample())
                try await members.control("auth", "disable", user: "root:root")
                try await members.control("auth", "enable")
                try await store.save(etcdSample(generation: 2))
                #expect(await faults.first { $0 == .tokenExpired } == .tokenExpired)
                try await members.control(
                    "user", "passwd", "ada", "--interactive=false", input: "secret-2\n", user: "root:root")
                password.set("secret-2")
                try await store.save(etcdSample(generation: 3))
                #expect(await faults.first { $0 == .tokenExpired } == .tokenExpired)
            }
        }
    }

    @Test("ignores a user if etcd has none")
    func usersAreOff() async throws {
        try await EtcdMembers.running { members in
            var host = try EtcdHost()
            host.user = .init(name: "ada", password: { Secret("secret-1") })
            try await host.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                #expect(try await store.loadAll().count == 1)
            }
        }
    }
}

private final class Password: Sendable {
    private let text: Mutex<String>

    init(_ text: String) { self.text = Mutex(text) }

    var current: Secret { Secret(text.withLock { $0 }) }

    func set(_ new: String) { text.withLock { $0 = new } }
}
