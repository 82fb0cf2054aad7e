/// `password.set`.
public struct PasswordSet: MethodWithParams, HoldsSecrets {
    public typealias Result = Step
    public static let name = "password.set"
    public static let summary = "Sets the first password of an account."
    public static let access = AccessClass.account
    public static let secrecy = Secrecy.ownAgentOnly

    public var params: PasswordParams
    public init(_ params: PasswordParams) { self.params = params }
}

/// `password.change`.
public struct PasswordChange: MethodWithParams, HoldsSecrets {
    public typealias Result = Step
    public static let name = "password.change"
    public static let summary = "Changes the password."
    public static let access = AccessClass.account
    public static let secrecy = Secrecy.ownAgentOnly

    public var params: PasswordParams
    public init(_ params: PasswordParams) { self.params = params }
}

/// `password.request_reset`.
public struct PasswordRequestReset: MethodWithParams, HoldsSecrets {
    public typealias Result = Step
    public static let name = "password.request_reset"
    public static let summary = "Requests a reset of the password."
    public static let access = AccessClass.account
    public static let secrecy = Secrecy.ownAgentOnly

    public var params: PasswordParams
    public init(_ params: PasswordParams) { self.params = params }
}

/// `password.reset`.
public struct PasswordReset: MethodWithParams, HoldsSecrets {
    public typealias Result = Step
    public static let name = "password.reset"
    public static let summary = "Resets the password and signs in."
    public static let access = AccessClass.account
    public static let secrecy = Secrecy.ownAgentOnly

    public var params: PasswordParams
    public init(_ params: PasswordParams) { self.params = params }
}
