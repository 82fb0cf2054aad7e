/// An option with a value: `--name VALUE`, `--name=VALUE`.
///
/// Every option says how its value is completed.
@propertyWrapper
package struct Option<Value>: ArgumentWrapper {
    private let storage: ArgumentProperty<Value>

    package var wrappedValue: Value { storage.value }

    var declared: DeclaredArguments { .property(storage) }

    /// With a default.
    package init(
        wrappedValue: Value, name: NameSpecification = .long, help: ArgumentHelp, completion: CompletionKind
    ) where Value: LosslessStringConvertible {
        let declaration = ArgumentDeclaration(
            form: .option(name), help: help, completion: completion, defaultText: wrappedValue.description)
        storage = ArgumentProperty(declaration, default: wrappedValue, conversion())
    }

    /// Required.
    package init(
        name: NameSpecification = .long, help: ArgumentHelp, completion: CompletionKind
    ) where Value: LosslessStringConvertible {
        let declaration = ArgumentDeclaration(form: .option(name), help: help, completion: completion)
        storage = ArgumentProperty(declaration, default: nil, conversion())
    }

    package init<Wrapped: LosslessStringConvertible>(
        name: NameSpecification = .long, help: ArgumentHelp, completion: CompletionKind
    ) where Value == Wrapped? {
        let declaration = ArgumentDeclaration(form: .option(name), help: help, completion: completion)
        storage = ArgumentProperty(optional: declaration, conversion())
    }

    /// Its value can be left out on the line: then it is `defaultAsFlag`.
    package init<Wrapped: LosslessStringConvertible>(
        name: NameSpecification = .long, defaultAsFlag: Wrapped, help: ArgumentHelp, completion: CompletionKind
    ) where Value == Wrapped? {
        let declaration = ArgumentDeclaration(
            form: .optionalValue(name, instead: defaultAsFlag), help: help, completion: completion)
        storage = ArgumentProperty(optional: declaration, conversion())
    }

    /// Can be repeated.
    package init<Element: LosslessStringConvertible>(
        wrappedValue: [Element], name: NameSpecification = .long, help: ArgumentHelp, completion: CompletionKind
    ) where Value == [Element] {
        let declaration = ArgumentDeclaration(form: .option(name), help: help, completion: completion)
        storage = ArgumentProperty(repeating: declaration, default: wrappedValue, conversion())
    }

    // MARK: Values that a function makes

    /// With a default, which help does not show.
    package init(
        wrappedValue: Value, name: NameSpecification = .long, help: ArgumentHelp, completion: CompletionKind,
        transform: @escaping (String) throws(ValidationError) -> Value
    ) {
        let declaration = ArgumentDeclaration(form: .option(name), help: help, completion: completion)
        storage = ArgumentProperty(declaration, default: wrappedValue, conversion(by: transform))
    }

    /// Required.
    @_disfavoredOverload
    package init(
        name: NameSpecification = .long, help: ArgumentHelp, completion: CompletionKind,
        transform: @escaping (String) throws(ValidationError) -> Value
    ) {
        let declaration = ArgumentDeclaration(form: .option(name), help: help, completion: completion)
        storage = ArgumentProperty(declaration, default: nil, conversion(by: transform))
    }

    package init<Wrapped>(
        name: NameSpecification = .long, help: ArgumentHelp, completion: CompletionKind,
        transform: @escaping (String) throws(ValidationError) -> Wrapped
    ) where Value == Wrapped? {
        let declaration = ArgumentDeclaration(form: .option(name), help: help, completion: completion)
        storage = ArgumentProperty(optional: declaration, conversion(by: transform))
    }

    /// Can be repeated.
    package init<Element>(
        wrappedValue: [Element], name: NameSpecification = .long, help: ArgumentHelp, completion: CompletionKind,
        transform: @escaping (String) throws(ValidationError) -> Element
    ) where Value == [Element] {
        let declaration = ArgumentDeclaration(form: .option(name), help: help, completion: completion)
        storage = ArgumentProperty(repeating: declaration, default: wrappedValue, conversion(by: transform))
    }
}
