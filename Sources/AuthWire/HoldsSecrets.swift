/// A value that must not appear in a log or an error: it prints as its type's name, and its mirror is empty.
public protocol HoldsSecrets: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension HoldsSecrets {
    public var description: String { "\(Self.self)(<secret>)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
