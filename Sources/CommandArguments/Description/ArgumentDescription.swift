/// An option, a flag or an argument, as the parser and help see it.
package struct ArgumentDescription {
    enum Kind {
        /// The line sets the property to this value.
        case flag(Bool)
        case option
        /// `instead` is the value if the line has the option without one.
        case optionalValue(instead: Any)
        case positional
        /// All words after `--`.
        case afterTerminator
    }

    /// The place of its property among those of the command. A flag that can be turned off has two descriptions for one
    /// property.
    let number: Int
    private(set) var kind = Kind.positional
    package private(set) var names: [ArgumentName] = []
    let abstract: String
    var defaultText: String
    let isOptional: Bool
    let isRepeating: Bool
    /// Not in help and completion scripts, nor in the text of errors.
    package var isHidden: Bool
    package let completion: CompletionKind?
    /// The value that a word stands for.
    let value: (String) throws(InvalidValue) -> Any

    private let declaredValueName: String?
    private let property: String

    init(declared: ArgumentDeclaration, property: String, number: Int) {
        (self.number, self.property) = (number, property)
        (abstract, declaredValueName) = (declared.help.abstract, declared.help.valueName)
        isHidden = declared.help.isHidden
        (completion, defaultText, value) = (declared.completion, declared.defaultText, declared.value)
        (isOptional, isRepeating) = (declared.isOptional, declared.isRepeating)
    }

    func with(_ kind: Kind, _ names: [ArgumentName]) -> ArgumentDescription {
        var copy = self
        (copy.kind, copy.names) = (kind, names)
        return copy
    }

    /// What stands for a value in a synopsis.
    package var valueName: String {
        declaredValueName ?? names.preferred?.bareText ?? NameSpecification.hyphenated(property)
    }

    package var isFlag: Bool {
        if case .flag = kind { true } else { false }
    }

    /// Whether it has a name on the line, and a value.
    var isOption: Bool { !isFlag && !names.isEmpty }

    var isPositional: Bool { names.isEmpty }
}

// MARK: Synopsis

extension ArgumentDescription {
    /// With brackets if it can be left out, and dots if it can be repeated.
    var synopsis: String {
        let text = isOptional ? "[\(neededSynopsis)]" : neededSynopsis
        if case .afterTerminator = kind { return "-- " + text }
        return text
    }

    /// Without the brackets.
    var neededSynopsis: String { named(names.preferred?.text ?? "") + (isRepeating ? " ..." : "") }

    /// With all names, the short ones first.
    var label: String {
        named((names.filter(\.isShort) + names.filter { !$0.isShort }).map(\.text).joined(separator: ", "))
    }

    private func named(_ names: String) -> String {
        switch kind {
        case .flag: names
        case .option: "\(names) <\(valueName)>"
        case .optionalValue: "\(names) [<\(valueName)>]"
        case .positional, .afterTerminator: "<\(valueName)>"
        }
    }
}
