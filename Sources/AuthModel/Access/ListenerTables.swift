/// The tables `[listener.NAME]` of authd.toml(5): what the confined clients of each listener may do.
///
/// Invariant: a listener without a table has rules that allow nothing.
package struct ListenerTables: Sendable, Equatable {
    private var tables: [ListenerName: ListenerRules] = [:]

    /// - Parameter extra: for the extra socket.
    package init(extra: ListenerRules = ListenerRules()) {
        self[.extra] = extra
    }

    /// The rules for confined clients of a listener.
    package subscript(listener: ListenerName) -> ListenerRules {
        get { tables[listener.boundary] ?? ListenerRules() }
        // An empty table is the same as none.
        set { tables[listener.boundary] = newValue == ListenerRules() ? nil : newValue }
    }

    /// The listeners with a table that is not empty, in order.
    package var names: [ListenerName] { tables.keys.sorted() }

    /// The listeners whose rules differ, in order.
    package func differences(from other: ListenerTables) -> [ListenerName] {
        Set(names + other.names).filter { self[$0] != other[$0] }.sorted()
    }
}
