package import AuthWire

/// Which responses are meant. All that it has must hold.
package struct ResponseRule: Sendable, Equatable {
    /// Empty: any.
    package var statuses: Set<Int>
    /// Error codes (``ErrorMap/code``). Empty: any.
    package var codes: Set<String>
    /// Where a value is expected.
    package var place: ValuePlace?
    /// The value at the place is one of these.
    package var value: Expectation

    package enum Expectation: Sendable, Equatable {
        case exists
        case missing
        case equals([JSON])
    }

    package init(
        statuses: Set<Int> = [], codes: Set<String> = [], place: ValuePlace? = nil, value: Expectation = .exists
    ) {
        self.statuses = statuses
        self.codes = codes
        self.place = place
        self.value = value
    }

    /// - Parameter code: the error code of the response.
    func holds(_ reply: HTTPResponse, _ body: ResponseBody, code: () -> String?) -> Bool {
        if !statuses.isEmpty, !statuses.contains(reply.status) { return false }
        if !codes.isEmpty {
            guard let code = code(), codes.contains(code) else { return false }
        }
        guard let place else { return true }
        let found = place.find(in: reply, body) ?? JSON.null
        return switch value {
        case .exists: !found.isNull
        case .missing: found.isNull
        case .equals(let values):
            values.contains { $0 == found || ($0.doubleValue != nil && $0.doubleValue == found.doubleValue) }
        }
    }
}

// MARK: As JSON

extension ResponseRule {
    /// For another process.
    var json: JSON {
        var members: JSONObject = [
            "statuses": .array(statuses.sorted().map { .integer(Int64($0)) }),
            "codes": .array(codes.sorted().map { .string($0) }),
        ]
        switch place {
        case .pointer(let pointer): members["pointer"] = .string(pointer.text)
        case .header(let name): members["header"] = .string(name)
        case .cookie(let name): members["cookie"] = .string(name)
        case nil: break
        }
        switch value {
        case .exists: members["exists"] = true
        case .missing: members["exists"] = false
        case .equals(let values): members["equals"] = .array(values)
        }
        return .object(members)
    }

    init(json: JSON) {
        self.init(
            statuses: Set((json["statuses"]?.arrayValue ?? []).compactMap { $0.integerValue.map { Int($0) } }),
            codes: Set((json["codes"]?.arrayValue ?? []).compactMap(\.stringValue)))
        if let text = json["pointer"]?.stringValue, let pointer = try? JSONPointer(text) {
            place = .pointer(pointer)
        } else if let name = json["header"]?.stringValue {
            place = .header(name)
        } else if let name = json["cookie"]?.stringValue {
            place = .cookie(name)
        }
        if let values = json["equals"]?.arrayValue {
            value = .equals(values)
        } else if json["exists"]?.boolValue == false {
            value = .missing
        }
    }
}
