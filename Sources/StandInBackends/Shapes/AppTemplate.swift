import Foundation

/// E: nested credentials, renewal with the current token, and lists of validation messages.
struct AppTemplate: Shape {
    let accounts: Accounts

    func add(to routes: Routes) {
        routes.post("/auth/login", login)
        routes.post("/auth/refresh", refresh)
        AppTemplateUsers(accounts: accounts).add(to: routes)
    }

    func body(of refusal: Refusal) -> Answer {
        var body: [String: JSONValue] = ["message": .string(refusal.message)]
        if refusal.status == 400 {
            let messages = refusal.details.isEmpty ? [refusal.message] : refusal.details
            body["errors"] = .array(messages.map { .string($0) })
        }
        return .json(.object(body), status: refusal.status)
    }

    private func login(_ call: Call) async throws(Refusal) -> Answer {
        let credentials = try call.fields(["credentials"]).object("credentials", ["email", "password"])
        let account = try await accounts.signIn(
            email: credentials.text("email"), password: credentials.text("password"))
        let issued = try await accounts.issue(to: account)
        return .json([
            "user": AppTemplateUsers.user(account), "token": .string(issued.token),
            "refreshToken": .string(await accounts.opaque()),
        ])
    }

    private func refresh(_ call: Call) async throws(Refusal) -> Answer {
        let (_, token) = try await accounts.authenticateForRenewal(call.bearer())
        let issued = try await accounts.replace(token)
        return .json([
            "token": .string(issued.token), "expiresAt": Dates.utc(Dates.unixSeconds(issued.endsAt)),
        ])
    }
}
