/// A large value whose copies share its memory. Changing a copy gives that copy a new value.
@propertyWrapper
package struct Shared<Value: Sendable>: Sendable {
    @usableFromInline
    final class Box: Sendable {
        @usableFromInline let value: Value

        @usableFromInline
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    @inlinable
    package init(wrappedValue: Value) {
        box = Box(wrappedValue)
    }

    @inlinable package var wrappedValue: Value {
        get { box.value }
        set { box = Box(newValue) }
    }

    /// The wrapper, for another property that shares the value.
    @inlinable package var projectedValue: Shared {
        get { self }
        set { self = newValue }
    }
}

extension Shared: Equatable where Value: Equatable {
    package static func == (left: Shared, right: Shared) -> Bool {
        left.box === right.box || left.box.value == right.box.value
    }
}

/// A large value that is rarely present. Without a value, the property takes only the memory of a pointer.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    @usableFromInline var shared: Shared<Value>?

    @inlinable package init() {}

    @inlinable
    package init(wrappedValue: Value?) {
        shared = wrappedValue.map(Shared.init)
    }

    @inlinable package var wrappedValue: Value? {
        get { shared?.wrappedValue }
        set { shared = newValue.map(Shared.init) }
    }
}

extension Boxed: Equatable where Value: Equatable {}
