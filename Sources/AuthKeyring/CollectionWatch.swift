import CSecret
import GLibRuntime

/// Follows the default collection: which one it is, and whether it is open.
///
/// A signal says only that something may have changed; then the service is asked, and its reply is reported. Invariant: at most
/// one query is in progress, and a change during it leads to one more. Used on the GLib thread only.
final class CollectionWatch {
    enum Found: Equatable {
        case open(path: String)
        case locked(path: String)
        /// There is no default collection.
        case none
        /// There is no service, or none that understands the query.
        case gone
    }

    var changed: ((Found) -> Void)?

    private let bus: BusConnection
    private var subscriptions: [GLibSubscription] = []
    private var question: (any GLibOperation)?
    private var isStale = false

    init(on bus: BusConnection) {
        self.bus = bus
        let service = SecretServiceProxy.busName
        subscriptions = ["CollectionCreated", "CollectionDeleted", "CollectionChanged"].map { signal in
            bus.subscribe(
                to: signal, of: SecretServiceProxy.interface, from: service, path: SecretServiceProxy.path
            ) { [weak self] _ in self?.look() }
        }
        subscriptions.append(
            bus.subscribe(
                to: "PropertiesChanged", of: "org.freedesktop.DBus.Properties", from: service,
                firstArgument: Self.interface
            ) { [weak self] arguments in
                if Self.isAboutLock(arguments) { self?.look() }
            })
    }

    /// Asks the service without a limit: a silent service is reported as soon as it replies.
    func look() {
        guard question == nil else {
            isStale = true
            return
        }
        isStale = false
        let call = Self.readingDefault(on: bus)
        question = bus.thread.begin(call, limit: nil) { [weak self] in self?.read($0) }
    }

    /// Drops the current query: the service is gone.
    func forget() {
        let asked = question
        question = nil
        isStale = false
        asked?.abandon(.cancelled)
    }

    private func read(_ result: Result<String?, GLibFailure>) {
        guard question != nil else { return }
        switch result {
        case .success(let path?):
            question = bus.thread.begin(Self.readingLocked(path, on: bus), limit: nil) { [weak self] result in
                guard let self, question != nil else { return }
                switch result {
                case .success(let isLocked): report(isLocked ? .locked(path: path) : .open(path: path))
                case .failure: report(.gone)
                }
            }
        case .success(nil): report(.none)
        case .failure: report(.gone)
        }
    }

    private func report(_ found: Found) {
        question = nil
        if isStale { return look() }
        changed?(found)
    }
}

extension CollectionWatch {
    static let interface = "org.freedesktop.Secret.Collection"

    /// The path of the collection with the alias "default"; `nil` if there is none.
    static func readingDefault(on bus: BusConnection) -> GIOCall<String?> {
        let method = BusMethod(
            destination: SecretServiceProxy.busName, path: SecretServiceProxy.path,
            interface: SecretServiceProxy.interface, member: "ReadAlias")
        return bus.calling(
            method, arguments: BusVariant(tuple: [BusVariant(string: SECRET_COLLECTION_DEFAULT)]), reply: "(o)"
        ) { reply in
            // A missing alias is the root path (Secret Service API draft 0.2, "ReadAlias").
            .some(reply.members.first?.string.flatMap { $0 == "/" ? nil : $0 })
        }
    }

    static func readingLocked(_ collection: String, on bus: BusConnection) -> GIOCall<Bool> {
        reading("Locked", of: collection, interface: interface, on: bus) { $0.bool }
    }

    /// A property of an object of the service.
    static func reading<Value>(
        _ property: String, of path: String, interface: String, on bus: BusConnection,
        as read: @escaping (BusVariant) -> Value?
    ) -> GIOCall<Value> {
        let method = BusMethod(
            destination: SecretServiceProxy.busName, path: path, interface: "org.freedesktop.DBus.Properties",
            member: "Get")
        return bus.calling(
            method, arguments: BusVariant(tuple: [BusVariant(string: interface), BusVariant(string: property)]),
            reply: "(v)"
        ) { reply in
            reply.members.first.flatMap { read($0.unboxed) }
        }
    }

    /// Items use the same signal: only a change of the lock leads to a query.
    private static func isAboutLock(_ arguments: BusVariant) -> Bool {
        let members = arguments.members
        guard members.count == 3 else { return false }
        return members[1].members.contains { $0.members.first?.string == "Locked" }
            || members[2].members.contains { $0.string == "Locked" }
    }
}
