package import AuthWire

extension TOMLText {
    /// All values, or those of a table or list, as JSON; dates are texts.
    /// - Returns: `nil` if there is nothing at this path.
    package func json(at path: String = "") -> JSON? {
        let root = path.isEmpty ? [] : TOMLPath.components(path) ?? []
        if let value = value(at: path), let scalar = Self.json(value.kind) { return scalar }
        // Not `nil` in an expression, which would be the null of JSON.
        var result: JSON? = path.isEmpty ? .object(JSONObject()) : Optional.none
        for value in values where value.path == path || path.isEmpty || value.path.hasPrefix(path) {
            guard let components = TOMLPath.components(value.path), components.starts(with: root) else { continue }
            let content: JSON = Self.json(value.kind) ?? (value.kind == .list ? [] : [:])
            result = Self.inserting(content, at: components.dropFirst(root.count), in: result)
        }
        return result
    }

    private static func inserting(_ value: JSON, at path: ArraySlice<TOMLPath.Component>, in json: JSON?) -> JSON {
        switch path.first {
        case nil: return json ?? value
        case .key(let key)?:
            var object = json?.objectValue ?? JSONObject()
            object[key] = inserting(value, at: path.dropFirst(), in: object[key])
            return .object(object)
        case .index(let index)?:
            var list = json?.arrayValue ?? []
            // Elements come in their order.
            let old: JSON? = list.indices.contains(index) ? list.remove(at: index) : Optional.none
            list.insert(inserting(value, at: path.dropFirst(), in: old), at: min(index, list.count))
            return .array(list)
        }
    }

    private static func json(_ kind: TOMLValue.Kind) -> JSON? {
        switch kind {
        case .list, .table: nil
        case .text(let text): .string(text)
        case .bare("true"): true
        case .bare("false"): false
        case .bare(let text): number(text.filter { $0 != "_" }) ?? .string(text)
        }
    }

    private static func number(_ text: String) -> JSON? {
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.hasPrefix(prefix) {
            return Int64(text.dropFirst(2), radix: radix).map(JSON.integer)
        }
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { return nil }
        return .number(number)
    }
}
