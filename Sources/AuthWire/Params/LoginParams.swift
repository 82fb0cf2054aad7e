/// The params of `login.wait`, `login.cancel` and `login.resend`.
public struct LoginParams: WireObject {
    public var login = ""

    public init(blank: Blank) {}
    public init(login: String) { self.login = login }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("login", &login, .string)
    }
}
