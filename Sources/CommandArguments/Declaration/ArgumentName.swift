/// The name of an option or a flag on a command line.
package enum ArgumentName: Hashable, Sendable {
    /// `--session`.
    case long(String)
    /// `-s`.
    case short(Character)
    /// Several characters after one hyphen, such as `-qs`. No argument has such a name.
    case letters(String)

    /// With its hyphens.
    package var text: String {
        switch self {
        case .long(let name): "--" + name
        case .short(let letter): "-\(letter)"
        case .letters(let letters): "-" + letters
        }
    }

    /// Without its hyphens.
    package var bareText: String {
        switch self {
        case .long(let name): name
        case .short(let letter): String(letter)
        case .letters(let letters): letters
        }
    }

    var isShort: Bool {
        if case .short = self { true } else { false }
    }
}

extension [ArgumentName] {
    /// The one that a synopsis shows.
    package var preferred: ArgumentName? { first { !$0.isShort } ?? first }
}

/// The names of an option or a flag, most of which follow from the name of its property.
package struct NameSpecification: ExpressibleByArrayLiteral, Sendable {
    package enum Element: Sendable {
        /// The first letter of the property's name.
        case short
        /// The property's name, in lower case and with hyphens between its words.
        case long
        case customShort(Character)
        case customLong(String)
    }

    private let elements: [Element]

    package init(arrayLiteral elements: Element...) { self.elements = elements }

    package static let short: NameSpecification = [.short]
    package static let long: NameSpecification = [.long]

    package static func customLong(_ name: String) -> NameSpecification { [.customLong(name)] }

    /// The names for a property.
    func names(of property: String) -> [ArgumentName] {
        elements.compactMap { element in
            switch element {
            case .short: property.first.map { .short($0) }
            case .long: .long(Self.hyphenated(property))
            case .customShort(let letter): .short(letter)
            case .customLong(let name): .long(name)
            }
        }
    }

    /// The names that turn a flag off: the long ones after `no-`.
    func negatedNames(of property: String) -> [ArgumentName] {
        names(of: property).compactMap { name in
            if case .long(let text) = name { .long("no-" + text) } else { nil }
        }
    }

    /// The words of a name in lower case, with hyphens between them: `minValid` is `min-valid`, `baseURLPath` is
    /// `base-url-path`.
    static func hyphenated(_ name: String) -> String {
        let letters = Array(name)
        var result = ""
        for (index, letter) in letters.enumerated() {
            if index > 0, letter.isUppercase {
                let endsAcronym = index + 1 < letters.count && letters[index + 1].isLowercase
                if !letters[index - 1].isUppercase || endsAcronym { result += "-" }
            }
            result += letter.lowercased()
        }
        return result
    }
}
