import AuthModel
import CSecret
import GLibRuntime

/// libsecret's SecretService with an open session, which belongs to one run of one keyring service.
///
/// Its functions are calls for a GLib thread, and use object paths.
// @unchecked Sendable: holds a reference; its object and `isProven` are used on the GLib thread only, which is the store's
// executor.
final class SecretServiceProxy: @unchecked Sendable {
    static let busName = "org.freedesktop.secrets"
    static let path = "/org/freedesktop/secrets"
    static let interface = "org.freedesktop.Secret.Service"

    /// A value was read back unchanged through this session: both sides have the same key.
    var isProven = false

    private let object: GObjectReference
    private let bus: BusConnection

    private init(_ object: GObjectReference, on bus: BusConnection) {
        self.object = object
        self.bus = bus
    }

    private var service: UnsafeMutablePointer<SecretService>? { authd_secret_service(object.raw) }

    /// Creates the proxy and opens a session with the current service.
    static func opening(on bus: BusConnection) -> GIOCall<SecretServiceProxy> {
        GIOCall { cancellable, callback, data in
            // The callback owns a reference: GIO keeps the object until it has called back.
            let object = authd_secret_service_new(bus.raw)
            g_async_initable_init_async(object, G_PRIORITY_DEFAULT, cancellable, callback, data)
            g_object_unref(UnsafeMutableRawPointer(object))
        } finish: { result, error in
            guard let source = g_async_result_get_source_object(result) else { return nil }
            let reference = GObjectReference(taking: source)
            guard g_async_initable_init_finish(OpaquePointer(source), result, error) != 0 else { return nil }
            return SecretServiceProxy(reference, on: bus)
        }
    }

    struct Found: Sendable {
        let unlocked: [String]
        let locked: [String]
    }

    func searching(_ attributes: [String: String]) -> GIOCall<Found> {
        GIOCall { [self] cancellable, callback, data in
            let table = stringTable(attributes)
            secret_service_search_for_dbus_paths(service, nil, table, cancellable, callback, data)
            g_hash_table_unref(table)
        } finish: { [self] result, error in
            var unlocked: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
            var locked: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
            guard secret_service_search_for_dbus_paths_finish(service, result, &unlocked, &locked, error) != 0 else {
                return nil
            }
            return Found(unlocked: taking(unlocked), locked: taking(locked))
        }
    }

    /// The values by path, without locked items.
    func reading(_ paths: [String]) -> GIOCall<[String: Secret]> {
        GIOCall { [self] cancellable, callback, data in
            withPaths(paths) {
                secret_service_get_secrets_for_dbus_paths(service, $0, cancellable, callback, data)
            }
        } finish: { [self] result, error in
            guard let table = secret_service_get_secrets_for_dbus_paths_finish(service, result, error) else {
                return nil
            }
            defer { g_hash_table_unref(table) }
            var secrets: [String: Secret] = [:]
            for path in paths {
                guard let value = path.withCString({ g_hash_table_lookup(table, $0) }) else { continue }
                secrets[path] = secret(OpaquePointer(value))
            }
            return secrets
        }
    }

    /// The result of a write.
    enum Written: Sendable {
        /// Done; the path of the item if one was written.
        case done(path: String?)
        /// The service first asks the user.
        case asks(prompt: String)
    }

    /// Writes an item in place of the one with the same attributes.
    func creating(
        in collection: String, label: String, attributes: [String: String], value: Secret
    ) -> GIOCall<Written> {
        let properties = BusVariant(table: [
            (SessionItem.interface + ".Label", BusVariant(string: label)),
            (SessionItem.interface + ".Attributes", BusVariant(strings: attributes.map { ($0.key, $0.value) })),
        ])
        let arguments = BusVariant(tuple: [properties, encoded(value), BusVariant(taking: g_variant_new_boolean(1))])
        let method = method(collection, CollectionWatch.interface, "CreateItem")
        return bus.calling(method, arguments: arguments, reply: "(oo)") { reply in
            guard let item = reply.members.first?.string, let prompt = reply.members.last?.string else { return nil }
            return Self.isNone(item) ? .asks(prompt: prompt) : .done(path: item)
        }
    }

    func deleting(_ path: String) -> GIOCall<Written> {
        bus.calling(method(path, SessionItem.interface, "Delete"), arguments: nil, reply: "(o)") { reply in
            guard let prompt = reply.members.first?.string else { return nil }
            return Self.isNone(prompt) ? .done(path: nil) : .asks(prompt: prompt)
        }
    }

    /// Encoded for the open session: encrypted if the service supports it.
    private func encoded(_ value: Secret) -> BusVariant {
        var bytes = value.revealBytes().map { CChar(bitPattern: $0) }
        let secret = secret_value_new(&bytes, gssize(bytes.count), "application/json")
        explicit_bzero(&bytes, bytes.count)
        defer { secret_value_unref(UnsafeMutableRawPointer(secret)) }
        return BusVariant(taking: secret_service_encode_dbus_secret(service, secret))
    }

    private func method(_ path: String, _ interface: String, _ member: String) -> BusMethod {
        BusMethod(destination: Self.busName, path: path, interface: interface, member: member)
    }

    /// A missing object has the root path (Secret Service API draft 0.2).
    private static func isNone(_ path: String) -> Bool { path == "/" }
}

private func stringTable(_ strings: [String: String]) -> OpaquePointer? {
    let table = authd_string_table { g_free($0) }
    for (key, value) in strings {
        g_hash_table_replace(table, g_strdup(key), g_strdup(value))
    }
    return table
}

/// Owns the NULL-terminated array.
private func taking(_ strings: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?) -> [String] {
    guard let strings else { return [] }
    defer { g_strfreev(strings) }
    var result: [String] = []
    var index = 0
    while let string = strings[index] {
        result.append(String(cString: string))
        index += 1
    }
    return result
}

/// The paths as C strings. Object paths contain no NUL (D-Bus specification, "Valid Object Paths").
private func withPaths(_ paths: [String], _ body: (UnsafeMutablePointer<UnsafePointer<gchar>?>?) -> Void) {
    let copies = paths.map { g_strdup($0) }
    defer { for copy in copies { g_free(copy) } }
    var pointers: [UnsafePointer<gchar>?] = copies.map { UnsafePointer($0) } + [nil]
    body(&pointers)
}

private func secret(_ value: OpaquePointer) -> Secret {
    var length: gsize = 0
    guard let bytes = secret_value_get(value, &length) else { return Secret("") }
    return Secret(bytes: UnsafeRawBufferPointer(start: bytes, count: Int(length)))
}
