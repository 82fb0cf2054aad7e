/// The result of a method that has none: an empty object.
public struct Nothing: WireObject {
    public init() {}

    public init(blank: Blank) {}

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {}
}
