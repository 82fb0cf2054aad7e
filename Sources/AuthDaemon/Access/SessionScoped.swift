import AuthWire

/// A request about one session, by default the default one.
protocol SessionScoped {
    var session: SessionName? { get set }
}

extension SessionWait: SessionScoped {}
extension TokenGet: SessionScoped {}
extension TokenReject: SessionScoped {}
extension TokenProof: SessionScoped {}
extension UserGet: SessionScoped {}
extension APIRequest: SessionScoped {}
extension APICall: SessionScoped {}

extension SessionStatusGet: SessionScoped {
    var session: SessionName? {
        get { params.session }
        set { params.session = newValue }
    }
}

extension SessionRefresh: SessionScoped {
    var session: SessionName? {
        get { params.session }
        set { params.session = newValue }
    }
}

extension SessionValidate: SessionScoped {}
