/// Options, flags and arguments that several commands share.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments>: ArgumentWrapper {
    /// The wrappers in it refer to their values, so a copy has them, too.
    package let wrappedValue: Value
    private let isHidden: Bool

    package init(visibility: GroupVisibility = .shown) {
        (wrappedValue, isHidden) = (Value(), visibility == .hidden)
    }

    var declared: DeclaredArguments { .group(wrappedValue, isHidden: isHidden) }
}

/// Whether help and completion scripts show a group.
package enum GroupVisibility: Sendable {
    case shown, hidden
}
