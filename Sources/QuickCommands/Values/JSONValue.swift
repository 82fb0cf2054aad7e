import CStart

/// A value that ``JSONText`` has accepted.
struct JSONValue {
    let text: Text

    /// Without its quotes, but with its escapes.
    var string: Text? {
        text[0] == .quote ? text.prefix(text.count - 1).dropping(1) : nil
    }

    var isNull: Bool { text.equals("null") }

    var bool: Bool? {
        switch text {
        case "true": true
        case "false": false
        default: nil
        }
    }

    var number: Double? {
        guard let first = text[0], first.isDigit || first == UInt8(ascii: "-") else { return nil }
        // It ends at the comma or bracket that follows every number.
        return unsafe text.bytes.baseAddress.map { unsafe strtod($0.assumingMemoryBound(to: CChar.self), nil) }
    }

    /// A whole number.
    var integer: Int64? {
        guard !text.contains(UInt8(ascii: ".")), let number else { return nil }
        return Int64(number)
    }

    /// Whether it is an array of strings.
    var isStrings: Bool {
        guard var list = JSONList(array: self) else { return false }
        while let element = list.next() {
            if element.value.string == nil { return false }
        }
        return true
    }

    /// The elements of an array that is a member of this object.
    /// - Parameter read: returns the value of an element; `nil` for another form of element.
    /// - Returns: `nil` if there is no such array, or if an element has another form.
    func list<Element>(_ key: StaticString, _ read: (JSONValue) -> Element?) -> [Element]? {
        guard var members = JSONList(object: self) else { return nil }
        var elements: [Element]?
        while let member = members.next() {
            guard member.key.equals(key) else { continue }
            guard var list = JSONList(array: member.value) else { return nil }
            var found: [Element] = []
            while let element = list.next() {
                guard let value = read(element.value) else { return nil }
                found.append(value)
            }
            elements = found
        }
        return elements
    }
}

/// The members of an object, or the elements of an array.
struct JSONList {
    private let text: Text
    private let hasKeys: Bool
    private var place = 1

    init?(object: JSONValue) {
        guard object.text[0] == UInt8(ascii: "{") else { return nil }
        (text, hasKeys) = (object.text, true)
    }

    init?(array: JSONValue) {
        guard array.text[0] == UInt8(ascii: "[") else { return nil }
        (text, hasKeys) = (array.text, false)
    }

    /// The key is empty in an array.
    mutating func next() -> (key: Text, value: JSONValue)? {
        // Before the closing bracket.
        guard place < text.count - 1 else { return nil }
        var key = text.prefix(0)
        if hasKeys {
            guard let colon = JSONText.end(of: text, from: place) else { return nil }
            key = text.prefix(colon - 1).dropping(place + 1)
            place = colon + 1
        }
        guard let end = JSONText.end(of: text, from: place) else { return nil }
        let value = JSONValue(text: text.prefix(end).dropping(place))
        place = end + 1
        return (key, value)
    }
}
