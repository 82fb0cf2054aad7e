import GLibRuntime
import Glibc

/// The names of logind (org.freedesktop.login1).
enum Logind {
    static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let session = "org.freedesktop.login1.Session"
    static let properties = "org.freedesktop.DBus.Properties"
    /// More login sessions than a user has.
    fileprivate static let mostSessions = 64
}

/// A login session. Those of a class other than `user`, such as greeters and user managers, and those that are closing do
/// not count.
struct LoginSessionState: Sendable {
    let counts: Bool
    let isLocked: Bool
}

extension BusConnection {
    /// The paths of the user's login sessions.
    func readingLoginSessions() -> GIOCall<[String]> {
        let method = BusMethod(
            destination: Logind.name, path: Logind.path, interface: Logind.manager, member: "ListSessions")
        return calling(method, arguments: nil, reply: "(a(susso))") { reply in
            reply.members.first.map { sessions in
                let own = sessions.members.filter { $0.members.dropFirst().first?.uint32 == geteuid() }
                return Array(own.compactMap { $0.members.last?.string }.prefix(Logind.mostSessions))
            }
        }
    }

    func readingLoginSession(at path: String) -> GIOCall<LoginSessionState> {
        let method = BusMethod(
            destination: Logind.name, path: path, interface: Logind.properties, member: "GetAll")
        let arguments = BusVariant(tuple: [BusVariant(string: Logind.session)])
        return calling(method, arguments: arguments, reply: "(a{sv})") { reply in
            var values: [String: BusVariant] = [:]
            for entry in reply.members.first?.members ?? [] {
                guard let key = entry.members.first?.string else { continue }
                values[key] = entry.members.last?.unboxed
            }
            return LoginSessionState(
                counts: values["Class"]?.string == "user" && values["State"]?.string != "closing",
                isLocked: values["LockedHint"]?.bool ?? false)
        }
    }
}

/// Asks logind once whether the user has a login session. Used on its GLib thread only.
struct LoginSessionQuery {
    let thread: GLibThread
    /// A bus on this machine replies in milliseconds or not at all.
    private static let timeout = Duration.seconds(5)

    /// - Parameter done: called once; with `false` if logind does not answer.
    func begin(at address: String, done: @escaping (Bool) -> Void) {
        thread.begin(BusConnection.opening(address, on: thread), limit: Self.timeout) { result in
            guard case .success(let bus) = result else { return done(false) }
            thread.begin(bus.readingLoginSessions(), limit: Self.timeout) { result in
                find(in: (try? result.get())?[...] ?? [], bus, done: done)
            }
        }
    }

    private func find(in paths: ArraySlice<String>, _ bus: BusConnection, done: @escaping (Bool) -> Void) {
        guard let path = paths.first else { return done(false) }
        thread.begin(bus.readingLoginSession(at: path), limit: Self.timeout) { result in
            if (try? result.get())?.counts == true { return done(true) }
            find(in: paths.dropFirst(), bus, done: done)
        }
    }
}
