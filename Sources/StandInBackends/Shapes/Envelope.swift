import Foundation

/// B: every response in one envelope, and some errors with status 200.
struct Envelope: Shape {
    let accounts: Accounts

    func add(to routes: Routes) {
        routes.post("/auth/login", login)
        routes.post("/auth/refresh", refresh)
        routes.get("/users/profile", profile)
        routes.post("/users/profile", updateProfile)
    }

    /// Errors of the service have status 200. Errors of its gateway (the token, the route, the media type) have their own
    /// status, in the same envelope.
    func body(of refusal: Refusal) -> Answer {
        let inside: Bool
        let number: Int
        switch refusal.code {
        case "INVALID_CREDENTIALS": (inside, number) = (true, 1001)
        case "BAD_REQUEST": (inside, number) = (true, 1002)
        case "FORBIDDEN": (inside, number) = (true, 1003)
        case "UNAUTHORIZED": (inside, number) = (false, 1401)
        default: (inside, number) = (false, refusal.status * 10)
        }
        let message = ([refusal.message] + refusal.details).joined(separator: ": ")
        return .json(
            ["errorMsg": .string(message), "errorCode": .integer(number), "statusCode": .integer(refusal.status)],
            status: inside ? 200 : refusal.status)
    }

    private func login(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "password"])
        let account = try await accounts.signIn(email: fields.text("email"), password: fields.text("password"))
        return granted(try await accounts.issue(to: account), account)
    }

    private func refresh(_ call: Call) async throws(Refusal) -> Answer {
        let (account, token) = try await accounts.authenticateForRenewal(call.bearer())
        return granted(try await accounts.replace(token), account)
    }

    private func profile(_ call: Call) async throws(Refusal) -> Answer {
        try call.refuseBody()
        try call.refuseQuery(but: ["userId"])
        let account = try await accounts.caller(call)
        try checkUser(call.query["userId"], account)
        return success(["user": user(account)])
    }

    private func updateProfile(_ call: Call) async throws(Refusal) -> Answer {
        let account = try await accounts.caller(call)
        let fields = try call.fields(["userId", "name"])
        try checkUser(fields.text("userId"), account)
        let name = try fields.text("name")
        return success(["user": user(try await accounts.change(account.id) { $0.rename(name) })])
    }

    private func checkUser(_ id: String?, _ account: Account) throws(Refusal) {
        guard let id, !id.isEmpty else { throw .badRequest("userId is required") }
        guard id == account.id else { throw .forbidden("userId is not that of the token") }
    }

    private func granted(_ issued: Accounts.Issued, _ account: Account) -> Answer {
        let left = issued.endsAt - accounts.now
        return success([
            "token": .string(issued.token), "expiresIn": .integer(Int(left.rounded(.up))), "user": user(account),
        ])
    }

    private func success(_ members: [String: JSONValue]) -> Answer {
        .json(.object(members.merging(["errorCode": 0, "errorMsg": ""]) { own, _ in own }))
    }

    private func user(_ account: Account) -> JSONValue {
        ["userId": .string(account.id), "email": .string(account.email), "name": .string(account.name)]
    }
}
