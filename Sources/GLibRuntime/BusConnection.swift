import CSecret

/// A private connection to a message bus: when the bus dies, it is dropped and another one is opened, and the process
/// continues. Used on its GLib thread only. @unchecked Sendable: every member asserts the thread or runs on it.
package final class BusConnection: @unchecked Sendable {
    package let thread: GLibThread
    private let connection: GObjectReference

    private init(_ connection: GObjectReference, on thread: GLibThread) {
        self.connection = connection
        self.thread = thread
        g_dbus_connection_set_exit_on_close(connection.opaque, 0)
    }

    /// The GDBusConnection, for libsecret.
    package var raw: OpaquePointer {
        thread.assertOwned()
        return connection.opaque
    }

    package var isClosed: Bool { g_dbus_connection_is_closed(raw) != 0 }

    /// Connects and says hello.
    ///
    /// - Parameter address: as in `DBUS_SESSION_BUS_ADDRESS` (D-Bus specification, "Server Addresses").
    package static func opening(_ address: String, on thread: GLibThread) -> GIOCall<BusConnection> {
        let flags =
            G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
            | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue
        return GIOCall { cancellable, callback, data in
            g_dbus_connection_new_for_address(
                address, GDBusConnectionFlags(rawValue: flags), nil, cancellable, callback, data)
        } finish: { result, error in
            g_dbus_connection_new_for_address_finish(result, error).map {
                BusConnection(GObjectReference(taking: UnsafeMutableRawPointer($0)), on: thread)
            }
        }
    }

    /// A method call without a time limit of D-Bus; its GIOCall has one.
    ///
    /// - Parameters:
    ///   - startingService: whether the bus may start the service.
    ///   - arguments: a tuple; a floating reference is owned.
    ///   - reply: the required type of the reply.
    ///   - read: reads the result from the reply, on the GLib thread.
    package func calling<Value>(
        _ method: BusMethod, arguments: BusVariant?, reply: String, startingService: Bool = false,
        read: @escaping (BusVariant) -> Value?
    ) -> GIOCall<Value> {
        let flags = startingService ? G_DBUS_CALL_FLAGS_NONE : G_DBUS_CALL_FLAGS_NO_AUTO_START
        return GIOCall { [self] cancellable, callback, data in
            func begin(_ arguments: OpaquePointer?) {
                withVariantType(reply) { type in
                    g_dbus_connection_call(
                        raw, method.destination, method.path, method.interface, method.member, arguments, type,
                        flags, .max, cancellable, callback, data)
                }
            }
            if let arguments { arguments.withRaw(begin) } else { begin(nil) }
        } finish: { [self] result, error in
            g_dbus_connection_call_finish(raw, result, error).flatMap { read(BusVariant(taking: $0)) }
        }
    }

    /// A method call that returns one file descriptor (`(h)`), which the caller closes.
    package func callingForDescriptor(_ method: BusMethod, arguments: BusVariant) -> GIOCall<Int32> {
        GIOCall { [self] cancellable, callback, data in
            arguments.withRaw { arguments in
                withVariantType("(h)") { type in
                    g_dbus_connection_call_with_unix_fd_list(
                        raw, method.destination, method.path, method.interface, method.member, arguments, type,
                        G_DBUS_CALL_FLAGS_NO_AUTO_START, .max, nil, cancellable, callback, data)
                }
            }
        } finish: { [self] result, error in
            var list: UnsafeMutablePointer<GUnixFDList>?
            guard let reply = g_dbus_connection_call_with_unix_fd_list_finish(raw, &list, result, error) else {
                return nil
            }
            g_variant_unref(reply)
            guard let list else { return nil }
            defer { g_object_unref(list) }
            let descriptor = g_unix_fd_list_get(list, 0, error)
            return descriptor >= 0 ? descriptor : nil
        }
    }

    /// Calls `received` for each such signal until the subscription is dropped.
    ///
    /// - Parameters:
    ///   - path: `nil` for every object.
    ///   - firstArgument: only signals whose first argument is this string.
    package func subscribe(
        to member: String, of interface: String, from sender: String, path: String? = nil,
        firstArgument: String? = nil, received: @escaping (BusVariant) -> Void
    ) -> GLibSubscription {
        let target = SignalTarget(received)
        let id = g_dbus_connection_signal_subscribe(
            raw, sender, interface, member, path, firstArgument, G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, _, _, _, parameters, data in
                guard let data, let parameters else { return }
                Unmanaged<SignalTarget>.fromOpaque(data).takeUnretainedValue().received(BusVariant(parameters))
            }, Unmanaged.passRetained(target).toOpaque(),
            { data in
                if let data { Unmanaged<SignalTarget>.fromOpaque(data).release() }
            })
        return GLibSubscription(thread: thread) { [connection] in
            g_dbus_connection_signal_unsubscribe(connection.opaque, id)
        }
    }

    /// The unique name of the owner of `name`; an error if it has none.
    package func readingOwner(of name: String) -> GIOCall<String> {
        calling(.ofBus("GetNameOwner"), arguments: BusVariant(tuple: [BusVariant(string: name)]), reply: "(s)") {
            $0.members.first?.string
        }
    }

    /// The process that owns `name`.
    package func readingProcess(of name: String) -> GIOCall<UInt32> {
        let arguments = BusVariant(tuple: [BusVariant(string: name)])
        return calling(.ofBus("GetConnectionUnixProcessID"), arguments: arguments, reply: "(u)") {
            $0.members.first?.uint32
        }
    }

    /// Makes the bus start the service that provides `name`, if it knows one.
    package func startingService(_ name: String) -> GIOCall<Bool> {
        let arguments = BusVariant(tuple: [BusVariant(string: name), BusVariant(uint32: 0)])
        return calling(.ofBus("StartServiceByName"), arguments: arguments, reply: "(u)") { _ in true }
    }

    /// Calls `changed` with the unique name of the owner of `name`, at first and after each change.
    package func watch(name: String, changed: @escaping (_ owner: String?) -> Void) -> GLibSubscription {
        let target = OwnerTarget(changed)
        let id = g_bus_watch_name_on_connection(
            raw, name, G_BUS_NAME_WATCHER_FLAGS_NONE,
            { _, _, owner, data in
                guard let data else { return }
                Unmanaged<OwnerTarget>.fromOpaque(data).takeUnretainedValue().changed(owner.map { String(cString: $0) })
            },
            { _, _, data in
                guard let data else { return }
                Unmanaged<OwnerTarget>.fromOpaque(data).takeUnretainedValue().changed(nil)
            }, Unmanaged.passRetained(target).toOpaque(),
            { data in
                if let data { Unmanaged<OwnerTarget>.fromOpaque(data).release() }
            })
        return GLibSubscription(thread: thread) { g_bus_unwatch_name(id) }
    }
}

extension BusConnection {
    /// Calls `closed` when the connection ends on either side.
    package func whenClosed(_ closed: @escaping () -> Void) -> GLibSubscription {
        GLibSubscription(to: "closed", of: connection, on: thread, received: closed)
    }
}

package struct BusMethod: Sendable {
    let destination: String
    let path: String
    let interface: String
    let member: String

    package init(destination: String, path: String, interface: String, member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }

    /// A method of the bus itself (D-Bus specification, "Message Bus Messages").
    fileprivate static func ofBus(_ member: String) -> BusMethod {
        BusMethod(
            destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: member)
    }
}

private final class SignalTarget {
    let received: (BusVariant) -> Void

    init(_ received: @escaping (BusVariant) -> Void) {
        self.received = received
    }
}

private final class OwnerTarget {
    let changed: (String?) -> Void

    init(_ changed: @escaping (String?) -> Void) {
        self.changed = changed
    }
}
