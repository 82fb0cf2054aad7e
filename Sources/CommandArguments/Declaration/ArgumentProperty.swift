/// The declaration of an option, a flag or an argument, and its value. The property wrappers refer to one, so that the
/// parser can set the value of a property that it found by reflection.
final class ArgumentProperty<Value> {
    private let declaration: ArgumentDeclaration
    /// Makes the property's value from those on the line; `nil` if they have another type.
    private let combine: ([Any]) -> Value?
    private var current: Value?

    /// - Parameter initial: the value if the line has none; `nil` if one is required.
    init(_ declaration: ArgumentDeclaration, initial: Value?, combine: @escaping ([Any]) -> Value?) {
        (self.declaration, self.combine, current) = (declaration, combine, initial)
    }

    var value: Value {
        guard let current else { preconditionFailure("a property without a default is read before the line is parsed") }
        return current
    }
}

/// How the parser sees a property, whatever the type of its value.
protocol SettableProperty {
    /// - Parameters:
    ///   - property: its name.
    ///   - number: its place among the properties of the command.
    func descriptions(of property: String, number: Int) -> [ArgumentDescription]

    /// - Parameter values: those on the line, in its order.
    /// - Returns: whether the property has a value now.
    func set(_ values: [Any]) -> Bool
}

extension ArgumentProperty: SettableProperty {
    func descriptions(of property: String, number: Int) -> [ArgumentDescription] {
        declaration.descriptions(of: property, number: number)
    }

    func set(_ values: [Any]) -> Bool {
        if !values.isEmpty { current = combine(values) }
        return current != nil
    }
}

/// A property wrapper of this module. All have one protocol, because the runtime searches the whole list of the
/// program's conformances for each type and protocol, which takes 0.1 ms.
protocol ArgumentWrapper {
    var declared: DeclaredArguments { get }
}

/// What a property wrapper stands for.
enum DeclaredArguments {
    case property(any SettableProperty)
    case group(any ParsableArguments, isHidden: Bool)
}

/// What a property wrapper declares.
struct ArgumentDeclaration {
    enum Form {
        case flag(NameSpecification)
        /// With a second name that turns it off.
        case switchable(NameSpecification)
        case option(NameSpecification)
        /// An option that can also be written without a value.
        case optionalValue(NameSpecification, instead: Any)
        case positional
        /// All words after `--`.
        case afterTerminator
    }

    let form: Form
    let help: ArgumentHelp
    var completion: CompletionKind?
    var defaultText = ""
    var isOptional = false
    var isRepeating = false
    /// The value that a word stands for.
    var value: (String) throws(InvalidValue) -> Any = { $0 }

    func descriptions(of property: String, number: Int) -> [ArgumentDescription] {
        let all = ArgumentDescription(declared: self, property: property, number: number)
        switch form {
        case .flag(let name): return [all.with(.flag(true), name.names(of: property))]
        case .switchable(let name):
            let (on, off) = (name.names(of: property), name.negatedNames(of: property))
            var first = all.with(.flag(true), on)
            first.defaultText = ["true": on, "false": off][defaultText]?.first?.text ?? ""
            var second = all.with(.flag(false), off)
            second.defaultText = ""
            return [first, second]
        case .option(let name): return [all.with(.option, name.names(of: property))]
        case .optionalValue(let name, let instead):
            return [all.with(.optionalValue(instead: instead), name.names(of: property))]
        case .positional: return [all.with(.positional, [])]
        case .afterTerminator: return [all.with(.afterTerminator, [])]
        }
    }
}

/// A word that is not a value of the argument.
struct InvalidValue: Error {
    let reason: String?
}
