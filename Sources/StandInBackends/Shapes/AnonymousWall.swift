import Foundation

/// C: e-mailed codes, dates with a zone's name, plain text besides JSON, and no renewal.
struct AnonymousWall: Shape {
    let accounts: Accounts

    func add(to routes: Routes) {
        routes.post("/api/v1/auth/email/send-code", sendCode)
        routes.post("/api/v1/auth/register/email", register)
        routes.post("/api/v1/auth/login/email", loginByCode)
        routes.post("/api/v1/auth/login/password", loginByPassword)
        routes.post("/api/v1/auth/password/set", setPassword)
        routes.post("/api/v1/auth/password/change", changePassword)
        routes.post("/api/v1/auth/password/reset-request", requestReset)
        routes.post("/api/v1/auth/password/reset", reset)
    }

    /// A bad request has a plain text body, every other error a JSON object.
    func body(of refusal: Refusal) -> Answer {
        let message = ([refusal.message] + refusal.details).joined(separator: ": ")
        return refusal.status == 400
            ? .text(message, status: 400) : .json(["message": .string(message)], status: refusal.status)
    }

    private func sendCode(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "purpose"])
        let email = try fields.text("email")
        let purpose = try fields.text("purpose")
        guard Accounts.isAddress(email) else { throw .badRequest("Invalid email address") }
        let known = await accounts.account(email: email) != nil
        switch purpose {
        case "register":
            guard !known else { throw .conflict("Email is already registered") }
            await accounts.sendCode(to: email, purpose: purpose)
            return .text("Verification code sent")
        case "login":
            guard known else { throw .notFound("No account with this email") }
            await accounts.sendCode(to: email, purpose: purpose)
            return .json(["message": "Verification code sent"])
        default:
            throw .badRequest("purpose must be register or login")
        }
    }

    private func register(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "code"])
        let email = try fields.text("email")
        try await accounts.redeemCode(code(fields), email: email, purpose: "register")
        return try await signedIn(accounts.add(Account(email: email, password: nil)), status: 201)
    }

    private func loginByCode(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "code"])
        let email = try fields.text("email")
        try await accounts.redeemCode(code(fields), email: email, purpose: "login")
        guard let account = await accounts.account(email: email) else { throw .notFound("User not found") }
        return try await signedIn(account)
    }

    private func loginByPassword(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "password"])
        return try await signedIn(
            accounts.signIn(email: fields.text("email"), password: fields.text("password")))
    }

    private func setPassword(_ call: Call) async throws(Refusal) -> Answer {
        let account = try await user(of: call)
        let password = try call.fields(["password"]).text("password")
        guard account.password == nil else { throw .badRequest("A password is set already") }
        try PasswordRules.checkLength(password)
        try await accounts.change(account.id) { $0.password = password }
        return .json(["message": "Password set successfully"])
    }

    private func changePassword(_ call: Call) async throws(Refusal) -> Answer {
        let account = try await user(of: call)
        let fields = try call.fields(["oldPassword", "newPassword"])
        let new = try fields.text("newPassword")
        guard account.password == (try fields.text("oldPassword")) else {
            throw .badRequest("Old password is incorrect")
        }
        try PasswordRules.checkLength(new)
        try await accounts.change(account.id) { $0.password = new }
        return .text("Password changed successfully")
    }

    /// The response does not reveal whether the account exists.
    private func requestReset(_ call: Call) async throws(Refusal) -> Answer {
        let email = try call.fields(["email"]).text("email")
        if await accounts.account(email: email) != nil {
            await accounts.sendCode(to: email, purpose: "reset")
        }
        return .text("If the account exists, a code was sent")
    }

    private func reset(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "code", "newPassword"])
        let email = try fields.text("email")
        let new = try fields.text("newPassword")
        try PasswordRules.checkLength(new)
        try await accounts.redeemCode(code(fields), email: email, purpose: "reset")
        guard let account = await accounts.account(email: email) else { throw .notFound("User not found") }
        return try await signedIn(accounts.change(account.id) { $0.password = new })
    }

    /// Requires a text of six digits: a number would lose its leading zeros.
    private func code(_ fields: Fields) throws(Refusal) -> String {
        let code = try fields.text("code")
        guard code.utf8.count == 6, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .badRequest("code must be six digits")
        }
        return code
    }

    /// The user of the token, which `X-User-ID` must name too.
    private func user(of call: Call) async throws(Refusal) -> Account {
        let account = try await accounts.caller(call)
        guard let id = call.header("x-user-id") else { throw .badRequest("X-User-ID header is missing") }
        guard id == account.id else { throw .forbidden("X-User-ID is not that of the token") }
        return account
    }

    private func signedIn(_ account: Account, status: Int = 200) async throws(Refusal) -> Answer {
        let token = try await accounts.issue(to: account).token
        return .json(["accessToken": .string(token), "user": user(account)], status: status)
    }

    private func user(_ account: Account) -> JSONValue {
        [
            "id": .string(account.id), "email": .string(account.email), "isVerified": .bool(account.isVerified),
            "createdAt": Dates.inLosAngeles(account.createdAt),
        ]
    }
}
