import Foundation

/// D: snake_case, a refresh call, wrapped lists, and no body after DELETE.
struct ForkInTheRoad: Shape {
    let accounts: Accounts
    private let items = ItemStore()

    func add(to routes: Routes) {
        routes.post("/api/auth/login", login)
        routes.post("/api/auth/register", register)
        routes.get("/api/auth/me", me)
        routes.post("/api/auth/refresh", refresh)
        routes.get("/api/user/profile", me)
        routes.put("/api/user/profile", updateProfile)
        ForkInTheRoadItems(accounts: accounts, items: items).add(to: routes)
    }

    func body(of refusal: Refusal) -> Answer {
        let message = ([refusal.message] + refusal.details).joined(separator: ": ")
        var body: [String: JSONValue] = ["message": .string(message)]
        if let code = refusal.code { body["code"] = .string(code) }
        return .json(.object(body), status: refusal.status)
    }

    private func login(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "password"])
        let account = try await accounts.signIn(email: fields.text("email"), password: fields.text("password"))
        return try await granted(accounts.issue(to: account), account)
    }

    private func register(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "password", "name"])
        let password = try fields.text("password")
        try PasswordRules.checkLength(password)
        let account = try await accounts.add(
            Account(email: fields.text("email"), password: password, name: fields.text("name")))
        return try await granted(accounts.issue(to: account), account, status: 201)
    }

    private func me(_ call: Call) async throws(Refusal) -> Answer {
        try call.refuseBody()
        return .json(["user": user(try await accounts.caller(call))])
    }

    private func refresh(_ call: Call) async throws(Refusal) -> Answer {
        let (account, token) = try await accounts.authenticateForRenewal(call.bearer())
        return try await granted(accounts.replace(token), account)
    }

    private func updateProfile(_ call: Call) async throws(Refusal) -> Answer {
        let account = try await accounts.caller(call)
        let fields = try call.fields([], optional: ["name", "phone_number", "photo_url"])
        let name = try fields.optionalText("name")
        let phone = try fields.optionalText("phone_number")
        let photo = try fields.optionalText("photo_url")
        let changed = try await accounts.change(account.id) {
            if let name { $0.rename(name) }
            if let phone { $0.phoneNumber = phone }
            if let photo { $0.photoURL = photo }
        }
        return .json(["user": user(changed)])
    }

    private func granted(_ issued: Accounts.Issued, _ account: Account, status: Int = 200) async throws(Refusal)
        -> Answer
    {
        .json(["token": .string(issued.token), "user": user(account)], status: status)
    }

    private func user(_ account: Account) -> JSONValue {
        [
            "id": .string(account.id), "email": .string(account.email), "name": .string(account.name),
            "created_at": Dates.utc(account.createdAt), "updated_at": Dates.utc(account.updatedAt),
        ]
    }
}
