package import AuthWire

/// The stored form, with a queued write: rules are applied again when it is sent. An unknown fact is left out, and
/// `false` is one that is known to be absent.
extension AccessFacts: WireObject {
    package init(blank: Blank) { self.init(isOwnUser: false, sandbox: .unknown) }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("listener", &listener, .listener)
        try visitor.required("own_user", &isOwnUser, .bool)
        try visitor.required("confined", &isConfined, .bool)
        try visitor.optional("sandbox", &sandbox.known, .fact)
        try visitor.optional("exe", &executable.known, .fact)
        try visitor.optional("unit", &unit.known, .fact)
        try visitor.optional("slice", &slice.known, .fact)
        try visitor.optional("label", &label.known, .fact)
        try visitor.optional("terminal", &terminal.known, .fact)
        try visitor.optional("login_session", &loginSession.known, .fact)
    }
}

extension AccessFacts.Fact {
    /// `nil`: it is not known.
    fileprivate var known: AccessFacts.Fact? {
        get { self == .unknown ? nil : self }
        set { self = newValue ?? .unknown }
    }
}

extension Field where Value == ListenerName {
    fileprivate static let listener = Field(
        .string, "the name of a listener", read: { $0.stringValue.flatMap(ListenerName.init(rawValue:)) },
        write: { .string($0.rawValue) })
}

extension Field where Value == AccessFacts.Fact {
    fileprivate static let fact = Field(
        .any, "a text or false",
        read: { json in
            if let text = json.stringValue { return .text(text) }
            return json.boolValue == false ? .absent : nil
        },
        write: { fact in
            if case .text(let text) = fact { .string(text) } else { .bool(false) }
        })
}
