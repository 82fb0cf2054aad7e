/// An option without a value.
@propertyWrapper
package struct Flag<Value>: ArgumentWrapper {
    private let storage: ArgumentProperty<Value>

    package var wrappedValue: Value { storage.value }

    var declared: DeclaredArguments { .property(storage) }

    /// Off, unless the line has it.
    package init(wrappedValue: Bool, name: NameSpecification = .long, help: ArgumentHelp) where Value == Bool {
        precondition(!wrappedValue, "nothing turns this flag off")
        let declaration = ArgumentDeclaration(form: .flag(name), help: help, isOptional: true)
        storage = ArgumentProperty(declaration, initial: false) { _ in true }
    }

    /// The line can turn it on and off.
    package init(
        wrappedValue: Bool, name: NameSpecification = .long, inversion: FlagInversion, help: ArgumentHelp
    ) where Value == Bool {
        let declaration = ArgumentDeclaration(
            form: .switchable(name), help: help, defaultText: "\(wrappedValue)", isOptional: true)
        storage = ArgumentProperty(declaration, initial: wrappedValue) { $0.last as? Bool }
    }

    /// On, off, or neither.
    package init(
        name: NameSpecification = .long, inversion: FlagInversion, help: ArgumentHelp
    ) where Value == Bool? {
        let declaration = ArgumentDeclaration(form: .switchable(name), help: help, isOptional: true)
        storage = ArgumentProperty(declaration, initial: .some(nil)) { $0.last.map { $0 as? Bool } }
    }
}

/// The name that turns a flag off.
package enum FlagInversion: Sendable {
    /// `--no-name`.
    case prefixedNo
}
