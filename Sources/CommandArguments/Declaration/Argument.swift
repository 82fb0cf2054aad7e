/// An argument without a name: a word of the line that is not an option.
///
/// Every argument says how it is completed.
@propertyWrapper
package struct Argument<Value>: ArgumentWrapper {
    private let storage: ArgumentProperty<Value>

    package var wrappedValue: Value { storage.value }

    var declared: DeclaredArguments { .property(storage) }

    /// Required.
    package init(help: ArgumentHelp, completion: CompletionKind) where Value: LosslessStringConvertible {
        let declaration = ArgumentDeclaration(form: .positional, help: help, completion: completion)
        storage = ArgumentProperty(declaration, default: nil, conversion())
    }

    package init<Wrapped: LosslessStringConvertible>(
        help: ArgumentHelp, completion: CompletionKind
    ) where Value == Wrapped? {
        let declaration = ArgumentDeclaration(form: .positional, help: help, completion: completion)
        storage = ArgumentProperty(optional: declaration, conversion())
    }

    /// One value or more.
    package init<Element: LosslessStringConvertible>(
        help: ArgumentHelp, completion: CompletionKind
    ) where Value == [Element] {
        let declaration = ArgumentDeclaration(form: .positional, help: help, completion: completion)
        storage = ArgumentProperty(repeating: declaration, default: nil, conversion())
    }

    /// Any number of values.
    package init<Element: LosslessStringConvertible>(
        wrappedValue: [Element], parsing: ArgumentParsing = .words, help: ArgumentHelp, completion: CompletionKind
    ) where Value == [Element] {
        let declaration = ArgumentDeclaration(
            form: parsing == .words ? .positional : .afterTerminator, help: help, completion: completion)
        storage = ArgumentProperty(repeating: declaration, default: wrappedValue, conversion())
    }

    /// Required. A function makes the value.
    package init(
        help: ArgumentHelp, completion: CompletionKind,
        transform: @escaping (String) throws(ValidationError) -> Value
    ) {
        let declaration = ArgumentDeclaration(form: .positional, help: help, completion: completion)
        storage = ArgumentProperty(declaration, default: nil, conversion(by: transform))
    }

    /// Any number of values, which no shell completes.
    init(uncompleted help: ArgumentHelp) where Value == [String] {
        storage = ArgumentProperty(
            repeating: ArgumentDeclaration(form: .positional, help: help), default: [], conversion())
    }
}

/// Which words of a line an argument with several values gets.
package enum ArgumentParsing: Sendable {
    /// Those that are not options.
    case words
    /// All after `--`.
    case postTerminator
}
