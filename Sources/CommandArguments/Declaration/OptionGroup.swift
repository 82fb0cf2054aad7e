/// Options, flags and arguments that several commands share.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments>: GroupWrapper {
    /// The wrappers in it refer to their values, so a copy has them, too.
    package let wrappedValue: Value
    let isHidden: Bool

    package init(visibility: GroupVisibility = .shown) {
        (wrappedValue, isHidden) = (Value(), visibility == .hidden)
    }

    var members: any ParsableArguments { wrappedValue }
}

/// Whether help and completion scripts show a group.
package enum GroupVisibility: Sendable {
    case shown, hidden
}

/// A group, whatever its type.
protocol GroupWrapper {
    var members: any ParsableArguments { get }
    var isHidden: Bool { get }
}
