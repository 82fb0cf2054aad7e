import CSecret

/// A GVariant, the value type of D-Bus messages. Immutable.
///
/// Invariant: C receives the pointer only while the object is kept alive. An optimised build releases a temporary after its
/// last use in Swift, before C has its own reference.
package final class BusVariant {
    private let variant: OpaquePointer

    /// Owns the reference, even a floating one.
    package init(taking variant: OpaquePointer) {
        self.variant = g_variant_take_ref(variant)
    }

    /// Adds a reference to a borrowed variant.
    init(_ borrowed: OpaquePointer) {
        variant = g_variant_ref(borrowed)
    }

    deinit {
        g_variant_unref(variant)
    }

    /// The GVariant, valid while `body` runs.
    package func withRaw<Value>(_ body: (OpaquePointer) -> Value) -> Value {
        withExtendedLifetime(self) { body(variant) }
    }

    package convenience init(string: String) {
        self.init(taking: g_variant_new_string(string))
    }

    package convenience init(uint32: UInt32) {
        self.init(taking: g_variant_new_uint32(uint32))
    }

    package convenience init(uint64: UInt64) {
        self.init(taking: g_variant_new_uint64(guint64(uint64)))
    }

    package convenience init(int32: Int32) {
        self.init(taking: g_variant_new_int32(int32))
    }

    package convenience init(strings: [String]) {
        var elements: [OpaquePointer?] = strings.map { g_variant_new_string($0) }
        self.init(taking: withVariantType("s") { g_variant_new_array($0, &elements, gsize(elements.count)) })
    }

    /// `ao`.
    package convenience init(paths: [String]) {
        var elements: [OpaquePointer?] = paths.map { g_variant_new_object_path($0) }
        self.init(taking: withVariantType("o") { g_variant_new_array($0, &elements, gsize(elements.count)) })
    }

    /// `a{sv}`.
    package convenience init(table: [(key: String, value: BusVariant)]) {
        let array: OpaquePointer = withExtendedLifetime(table) {
            var entries: [OpaquePointer?] = table.map { key, value in
                g_variant_new_dict_entry(g_variant_new_string(key), g_variant_new_variant(value.variant))
            }
            return withVariantType("{sv}") { g_variant_new_array($0, &entries, gsize(entries.count)) }
        }
        self.init(taking: array)
    }

    package convenience init(tuple members: [BusVariant]) {
        let tuple: OpaquePointer = withExtendedLifetime(members) {
            var pointers: [OpaquePointer?] = members.map(\.variant)
            return g_variant_new_tuple(&pointers, gsize(pointers.count))
        }
        self.init(taking: tuple)
    }

    package convenience init(strings table: [(key: String, value: String)]) {
        var entries: [OpaquePointer?] = table.map { key, value in
            g_variant_new_dict_entry(g_variant_new_string(key), g_variant_new_string(value))
        }
        self.init(
            taking: withVariantType("{ss}") { g_variant_new_array($0, &entries, gsize(entries.count)) })
    }

    /// Whether it has that type (D-Bus specification, "Type System").
    package func has(type: String) -> Bool {
        withRaw { raw in withVariantType(type) { g_variant_is_of_type(raw, $0) != 0 } }
    }

    /// The members of a tuple, array or dictionary entry; none for other types.
    package var members: [BusVariant] {
        withRaw { raw in
            guard g_variant_is_container(raw) != 0, !has(type: "v") else { return [] }
            return (0..<g_variant_n_children(raw)).compactMap { index in
                g_variant_get_child_value(raw, index).map { BusVariant(taking: $0) }
            }
        }
    }

    /// The content of a variant; itself for other types.
    package var unboxed: BusVariant {
        guard has(type: "v"), let inner = withRaw({ g_variant_get_variant($0) }) else { return self }
        return BusVariant(taking: inner)
    }

    /// The text of a string, object path or signature.
    package var string: String? {
        guard has(type: "s") || has(type: "o") || has(type: "g") else { return nil }
        return withRaw { raw in g_variant_get_string(raw, nil).map { String(cString: $0) } }
    }

    package var uint32: UInt32? {
        has(type: "u") ? withRaw { g_variant_get_uint32($0) } : nil
    }

    package var uint64: UInt64? {
        has(type: "t") ? withRaw { UInt64(g_variant_get_uint64($0)) } : nil
    }

    package var bool: Bool? {
        has(type: "b") ? withRaw { g_variant_get_boolean($0) != 0 } : nil
    }
}

/// A GLib type: a pointer into its text, valid while `body` runs.
func withVariantType<Value>(_ text: String, _ body: (OpaquePointer?) -> Value) -> Value {
    text.withCString { body(authd_variant_type($0)) }
}
