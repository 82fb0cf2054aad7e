// How the values of options and arguments are made, depending on the type of the property.

extension ArgumentProperty {
    /// One value, which is required unless there is a default.
    convenience init(
        _ declaration: ArgumentDeclaration, default initial: Value?, _ convert: @escaping Conversion<Value>
    ) {
        var declaration = declaration
        declaration.value = { text throws(InvalidValue) in try convert(text) }
        declaration.isOptional = initial != nil
        self.init(declaration, initial: initial) { $0.last as? Value }
    }

    /// One value, or none.
    convenience init<Wrapped>(
        optional declaration: ArgumentDeclaration, _ convert: @escaping Conversion<Wrapped>
    ) where Value == Wrapped? {
        var declaration = declaration
        declaration.value = { text throws(InvalidValue) in try convert(text) }
        declaration.isOptional = true
        self.init(declaration, initial: .some(nil)) { $0.last.map { $0 as? Wrapped } }
    }

    /// Any number of values.
    convenience init<Element>(
        repeating declaration: ArgumentDeclaration, default initial: [Element]?,
        _ convert: @escaping Conversion<Element>
    ) where Value == [Element] {
        var declaration = declaration
        declaration.value = { text throws(InvalidValue) in try convert(text) }
        (declaration.isOptional, declaration.isRepeating) = (initial != nil, true)
        self.init(declaration, initial: initial) { $0.compactMap { $0 as? Element } }
    }
}

/// Makes a value from a word.
typealias Conversion<Value> = (String) throws(InvalidValue) -> Value

/// The conversion of numbers and text.
func conversion<Value: LosslessStringConvertible>() -> Conversion<Value> {
    { text throws(InvalidValue) in
        guard let value = Value(text) else { throw InvalidValue(reason: nil) }
        return value
    }
}

/// A conversion that says why it refuses a word.
func conversion<Value>(
    by transform: @escaping (String) throws(ValidationError) -> Value
) -> Conversion<Value> {
    { text throws(InvalidValue) in
        do throws(ValidationError) { return try transform(text) } catch { throw InvalidValue(reason: error.message) }
    }
}
