import Foundation

/// A: camelCase, session ends in Unix seconds, and validation that may renew.
struct AWSLambda: Shape {
    let accounts: Accounts

    func add(to routes: Routes) {
        routes.post("/auth/register", register)
        routes.post("/auth/login", login)
        routes.get("/auth/validate", validate)
        routes.get("/auth/profile", profile)
        routes.put("/auth/profile", updateProfile)
    }

    func body(of refusal: Refusal) -> Answer {
        var body: [String: JSONValue] = [
            "error": .string(refusal.code ?? "ERROR"), "message": .string(refusal.message),
        ]
        if !refusal.details.isEmpty { body["details"] = .string(refusal.details.joined(separator: "; ")) }
        return .json(.object(body), status: refusal.status)
    }

    private func register(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "displayName"], optional: ["password", "authProvider", "firebaseUid"])
        let outside = try fields.optionalText("authProvider") ?? "email"
        let password = try fields.optionalText("password")
        let outsideID = try fields.optionalText("firebaseUid")
        if outside == "email" {
            try PasswordRules.checkMixture(password ?? "")
        } else if outsideID == nil {
            throw .badRequest("Validation failed", details: ["firebaseUid is required for \(outside)"])
        }
        var account = Account(
            email: try fields.text("email"), password: password, name: try fields.text("displayName"))
        account.authProvider = outside
        account.outsideID = outsideID
        account.lastLoginAt = Date()
        let added = try await accounts.add(account)
        return try await signedIn(added, "User registered successfully", status: 201)
    }

    private func login(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "authProvider"], optional: ["password", "firebaseUid"])
        let email = try fields.text("email")
        if try fields.text("authProvider") == "email" {
            let password = try fields.optionalText("password") ?? ""
            return try await signedIn(
                accounts.signIn(email: email, password: password), "Login successful")
        }
        guard let outsideID = try fields.optionalText("firebaseUid"),
            let account = await accounts.account(email: email), account.outsideID == outsideID
        else { throw .wrongCredentials }
        return try await signedIn(
            accounts.change(account.id) { $0.lastLoginAt = Date() }, "Login successful")
    }

    /// Renews if less than half of the session's life is left. The old token stays valid until its end.
    private func validate(_ call: Call) async throws(Refusal) -> Answer {
        try call.refuseBody()
        let (account, token) = try await accounts.authenticate(call.bearer())
        let left = token.endsAt - accounts.now
        guard left < (token.endsAt - token.issuedAt) / 2 else {
            return .json(["message": "Session is valid", "user": user(account)])
        }
        return try await signedIn(account, "Session renewed")
    }

    private func profile(_ call: Call) async throws(Refusal) -> Answer {
        try call.refuseBody()
        return .json(["message": "Profile", "user": user(try await accounts.caller(call))])
    }

    private func updateProfile(_ call: Call) async throws(Refusal) -> Answer {
        let account = try await accounts.caller(call)
        let fields = try call.fields(
            [], optional: ["displayName", "firstName", "lastName", "photoURL", "phoneNumber"])
        let displayName = try fields.optionalText("displayName")
        let firstName = try fields.optionalText("firstName")
        let lastName = try fields.optionalText("lastName")
        let photoURL = try fields.optionalText("photoURL")
        let phoneNumber = try fields.optionalText("phoneNumber")
        let changed = try await accounts.change(account.id) {
            if let displayName { $0.rename(displayName) }
            if let firstName { $0.firstName = firstName }
            if let lastName { $0.lastName = lastName }
            if let photoURL { $0.photoURL = photoURL }
            if let phoneNumber { $0.phoneNumber = phoneNumber }
        }
        return .json(["message": "Profile updated", "user": user(changed)])
    }

    private func signedIn(_ account: Account, _ message: String, status: Int = 200) async throws(Refusal) -> Answer {
        let issued = try await accounts.issue(to: account, whole: false)
        return .json(
            [
                "message": .string(message), "user": user(account), "token": .string(issued.token),
                "session": ["sessionId": .string(issued.id), "expiresAt": .number(issued.endsAt)],
            ], status: status)
    }

    private func user(_ account: Account) -> JSONValue {
        var user: [String: JSONValue] = [
            "userId": .string(account.id), "email": .string(account.email), "displayName": .string(account.name),
            "authProvider": .string(account.authProvider), "isActive": true,
            "createdAt": Dates.utc(account.createdAt), "updatedAt": Dates.utc(account.updatedAt),
            "profile": [
                "firstName": .string(account.firstName), "lastName": .string(account.lastName),
                "photoURL": .string(account.photoURL ?? ""), "phoneNumber": .string(account.phoneNumber ?? ""),
            ],
        ]
        if let outsideID = account.outsideID { user["firebaseUid"] = .string(outsideID) }
        if let date = account.lastLoginAt { user["lastLoginAt"] = Dates.utc(date) }
        return .object(user)
    }
}
