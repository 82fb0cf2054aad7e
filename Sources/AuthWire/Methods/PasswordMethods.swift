public struct PasswordSet: MethodWithParams, HoldsSecrets {
    public typealias Result = Step
    public static let info = MethodInfo(
        "password.set", .account, "Sets the first password of an account.", secrecy: .ownAgentOnly)
    public var params: PasswordParams
    public init(_ params: PasswordParams) { self.params = params }
}

public struct PasswordChange: MethodWithParams, HoldsSecrets {
    public typealias Result = Step
    public static let info = MethodInfo("password.change", .account, "Changes the password.", secrecy: .ownAgentOnly)
    public var params: PasswordParams
    public init(_ params: PasswordParams) { self.params = params }
}

public struct PasswordRequestReset: MethodWithParams, HoldsSecrets {
    public typealias Result = Step
    public static let info = MethodInfo(
        "password.request_reset", .account, "Requests a reset of the password.", secrecy: .ownAgentOnly)
    public var params: PasswordParams
    public init(_ params: PasswordParams) { self.params = params }
}

public struct PasswordReset: MethodWithParams, HoldsSecrets {
    public typealias Result = Step
    public static let info = MethodInfo(
        "password.reset", .account, "Resets the password and signs in.", secrecy: .ownAgentOnly)
    public var params: PasswordParams
    public init(_ params: PasswordParams) { self.params = params }
}
