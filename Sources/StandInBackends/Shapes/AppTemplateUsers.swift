import Foundation
import NIOCore
import Synchronization

struct AppTemplateUsers: Sendable {
    let accounts: Accounts
    private let pictures = Pictures()

    func add(to routes: Routes) {
        routes.post("/users", create)
        routes.get("/users", page)
        routes.get("/users/search", search)
        routes.get("/users/:id", read)
        routes.put("/users/:id", update)
        routes.delete("/users/:id", delete)
        routes.put("/profile", updateProfile)
        routes.get("/profile/:id", profile)
        routes.put("/profile/preferences", preferences)
        routes.postLong("/profile/avatar", avatar)
        routes.get("/avatars/:file", picture)
    }

    static func user(_ account: Account) -> JSONValue {
        var user: [String: JSONValue] = [
            "id": .string(account.id), "email": .string(account.email), "name": .string(account.name),
            "createdAt": Dates.utc(account.createdAt), "updatedAt": Dates.utc(account.updatedAt),
        ]
        if let url = account.photoURL { user["avatarURL"] = .string(url) }
        return .object(user)
    }

    private func create(_ call: Call) async throws(Refusal) -> Answer {
        let fields = try call.fields(["email", "password", "name"])
        let password = try fields.text("password")
        try PasswordRules.checkLength(password)
        let account = try await accounts.add(
            Account(email: fields.text("email"), password: password, name: fields.text("name")))
        return .json(["user": Self.user(account)], status: 201)
    }

    private func page(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        try call.refuseQuery(but: ["page", "limit"])
        guard let page = Int(call.query["page"] ?? "1"), let limit = Int(call.query["limit"] ?? "20"),
            (1...1_000_000).contains(page), (1...100).contains(limit)
        else { throw .badRequest("Validation failed", details: ["page and limit must be numbers from 1"]) }
        let allAccounts = await accounts.allAccounts
        let users = allAccounts.dropFirst((page - 1) * limit).prefix(limit)
        return .json([
            "users": .array(users.map(Self.user)), "total": .integer(allAccounts.count), "page": .integer(page),
            "limit": .integer(limit), "hasNext": .bool(page * limit < allAccounts.count),
        ])
    }

    private func search(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        try call.refuseQuery(but: ["q"])
        guard let text = call.query["q"]?.lowercased() else { throw .badRequest("q is required") }
        let found = await accounts.allAccounts.filter { "\($0.name) \($0.email)".lowercased().contains(text) }
        return .json(["users": .array(found.map(Self.user))])
    }

    private func read(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        return .json(["user": Self.user(try await user(of: call))])
    }

    private func update(_ call: Call) async throws(Refusal) -> Answer {
        try await checkOwner(call)
        return try await rename(call, call.parameters["id"] ?? "", under: "user")
    }

    private func delete(_ call: Call) async throws(Refusal) -> Answer {
        try call.refuseBody()
        try await checkOwner(call)
        try await accounts.remove(call.parameters["id"] ?? "")
        return .empty
    }

    private func profile(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        return .json(["profile": Self.user(try await user(of: call))])
    }

    private func updateProfile(_ call: Call) async throws(Refusal) -> Answer {
        try await rename(call, accounts.caller(call).id, under: "profile")
    }

    private func preferences(_ call: Call) async throws(Refusal) -> Answer {
        let account = try await accounts.caller(call)
        let fields = try call.fields([], optional: ["theme", "language", "notificationsEnabled"])
        for key in ["theme", "language"] { _ = try fields.optionalText(key) }
        if let flag = fields.members["notificationsEnabled"], flag.bool == nil {
            throw .badRequest("notificationsEnabled must be true or false")
        }
        let preferences = JSONValue.object(fields.members)
        try await accounts.change(account.id) { $0.preferences = preferences }
        return .json(["preferences": preferences])
    }

    private func avatar(_ call: Call, _ pieces: [ByteBuffer]) async throws(Refusal) -> Answer {
        let account = try await accounts.caller(call)
        let picture = try MultipartPart(of: call, pieces)
        guard picture.name == "avatar", picture.fileName == "avatar.jpg", picture.type == "image/jpeg" else {
            throw .badRequest("Validation failed", details: ["avatar must be the file avatar.jpg of type image/jpeg"])
        }
        guard picture.content.contains(where: { $0.readableBytes > 0 }) else {
            throw .badRequest("Validation failed", details: ["avatar must not be empty"])
        }
        let url = "https://cdn.example.org/avatars/\(account.id).jpg"
        try await accounts.change(account.id) { $0.photoURL = url }
        pictures.store(picture.content, as: account.id + ".jpg")
        return .json(["avatarURL": .string(url)])
    }

    /// The picture of `avatarURL`, unchanged.
    private func picture(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        guard let picture = pictures[call.parameters["file"] ?? ""] else { throw .notFound("Picture not found") }
        var answer = Answer(headers: [("content-type", "image/jpeg")])
        answer.long = picture
        return answer
    }

    private func user(of call: Call) async throws(Refusal) -> Account {
        guard let account = await accounts.account(call.parameters["id"] ?? "") else {
            throw .notFound("User not found")
        }
        return account
    }

    private func checkOwner(_ call: Call) async throws(Refusal) {
        let account = try await accounts.caller(call)
        guard account.id == call.parameters["id"] else { throw .forbidden("Not your account") }
    }

    private func rename(_ call: Call, _ id: String, under key: String) async throws(Refusal) -> Answer {
        let name = try call.fields([], optional: ["name"]).optionalText("name")
        let changed = try await accounts.change(id) { if let name { $0.rename(name) } }
        return .json(.object([key: Self.user(changed)]))
    }
}

/// Uploaded pictures in pieces.
private final class Pictures: Sendable {
    private let pictures = Mutex<[String: [ByteBuffer]]>([:])

    func store(_ picture: [ByteBuffer], as name: String) {
        pictures.withLock { $0[name] = picture }
    }

    subscript(_ name: String) -> [ByteBuffer]? { pictures.withLock { $0[name] } }
}
