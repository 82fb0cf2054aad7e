/// The result of a method that has nothing to say.
public struct Nothing: WireObject {
    public init() {}

    public init(blank: Blank) {}

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {}
}
