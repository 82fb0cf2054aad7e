/// A backend's other items, by kind and id, in the order of adding.
actor ItemStore {
    private var items: [String: [JSONValue]] = [:]
    private var last = 0

    /// Adds an item with a new `id` and returns it.
    func add(_ kind: String, _ members: [String: JSONValue]) -> JSONValue {
        last += 1
        let item = JSONValue.object(members.merging(["id": .string("\(kind)-\(last)")]) { own, _ in own })
        items[kind, default: []].append(item)
        return item
    }

    func all(_ kind: String) -> [JSONValue] { items[kind] ?? [] }

    func find(_ kind: String, _ id: String?) throws(Refusal) -> JSONValue {
        guard let id, let item = all(kind).first(where: { $0["id"]?.string == id }) else {
            throw .notFound("No such \(kind)")
        }
        return item
    }

    /// Sets members of an item and returns it.
    func update(_ kind: String, _ id: String?, _ change: [String: JSONValue]) throws(Refusal) -> JSONValue {
        guard let index = items[kind]?.firstIndex(where: { $0["id"]?.string == id }),
            case .object(let members)? = items[kind]?[index]
        else { throw .notFound("No such \(kind)") }
        let changed = JSONValue.object(members.merging(change) { _, new in new })
        items[kind]?[index] = changed
        return changed
    }

    func remove(_ kind: String, _ id: String?) throws(Refusal) {
        _ = try find(kind, id)
        items[kind]?.removeAll { $0["id"]?.string == id }
    }
}
