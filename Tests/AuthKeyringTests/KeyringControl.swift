import CSecret
import GLibRuntime
import Testing

/// Controls a keyring like a desktop: locks it, and unlocks it with the user's password.
actor KeyringControl {
    private nonisolated let thread: GLibThread
    private let bus: BusConnection

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private static let collection = "/org/freedesktop/secrets/collection/login"

    private init(thread: GLibThread, bus: BusConnection) {
        self.thread = thread
        self.bus = bus
    }

    static func connect(to keyring: PrivateKeyring, on thread: GLibThread) async throws -> KeyringControl {
        let opener = Opener(thread: thread)
        return KeyringControl(thread: thread, bus: try await opener.open(keyring.address))
    }

    func lock() async throws {
        _ = try await call(
            "org.freedesktop.Secret.Service", "Lock", "([objectpath '\(Self.collection)'],)", reply: "(aoo)"
        ) { _ in true }
    }

    private static let passwords = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

    func unlock(_ password: String = PrivateKeyring.password) async throws {
        let secret = try await secret(password)
        _ = try await call(
            Self.passwords, "UnlockWithMasterPassword", "(objectpath '\(Self.collection)', \(secret))", reply: "()"
        ) { _ in true }
    }

    /// Another collection becomes the default one. It is open.
    func replaceDefault() async throws {
        let secret = try await secret(PrivateKeyring.password)
        let label = "{'org.freedesktop.Secret.Collection.Label': <'other'>}"
        let path = try await call(Self.passwords, "CreateWithMasterPassword", "(\(label), \(secret))", reply: "(o)") {
            $0.members.first?.string
        }
        _ = try await call(
            "org.freedesktop.Secret.Service", "SetAlias", "('default', objectpath '\(path)')", reply: "()"
        ) { _ in true }
    }

    private func secret(_ password: String) async throws -> String {
        let session = try await call(
            "org.freedesktop.Secret.Service", "OpenSession", "('plain', <''>)", reply: "(vo)"
        ) { $0.members.last?.string }
        let bytes = password.utf8.map { "0x" + String($0, radix: 16) }.joined(separator: ", ")
        return "(objectpath '\(session)', @ay [], [byte \(bytes)], 'text/plain')"
    }

    private func call<Value: Sendable>(
        _ interface: String, _ member: String, _ arguments: String, reply: String,
        read: @escaping (BusVariant) -> Value?
    ) async throws -> Value {
        let method = BusMethod(
            destination: "org.freedesktop.secrets", path: "/org/freedesktop/secrets", interface: interface,
            member: member)
        let parsed = try #require(g_variant_parse(nil, arguments, nil, nil, nil))
        return try await thread.call(
            bus.calling(method, arguments: BusVariant(taking: parsed), reply: reply, read: read), limit: .seconds(20))
    }
}

private actor Opener {
    nonisolated let thread: GLibThread

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(thread: GLibThread) {
        self.thread = thread
    }

    func open(_ address: String) async throws -> BusConnection {
        try await thread.call(BusConnection.opening(address, on: thread), limit: .seconds(20))
    }
}
