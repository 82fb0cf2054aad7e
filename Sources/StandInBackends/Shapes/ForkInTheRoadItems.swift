import Foundation

/// D's collections, restaurants, groups, decisions and notifications.
struct ForkInTheRoadItems: Sendable {
    let accounts: Accounts
    let items: ItemStore

    private static let restaurants: [[String: JSONValue]] = [
        ["name": "Green Spoon", "cuisine": "vegan", "location": "Lisbon", "lat": 38.72, "lng": -9.14],
        ["name": "Casa Ada", "cuisine": "portuguese", "location": "Porto", "lat": 41.15, "lng": -8.61],
        ["name": "Noodle & Co.", "cuisine": "ramen", "location": "Lisbon", "lat": 38.71, "lng": -9.13],
    ]

    func add(to routes: Routes) {
        for (kind, list, required, optional) in [
            ("collection", "collections", ["name"], ["description", "is_public"]),
            ("group", "groups", ["name"], ["description"]),
            ("decision", "decisions", ["title"], ["group_id", "restaurant_ids"]),
        ] as [(String, String, Set<String>, Set<String>)] {
            routes.get("/api/\(list)", listing(kind, list))
            routes.post("/api/\(list)", adding(kind, required, optional))
            routes.get("/api/\(list)/:id", reading(kind))
            if kind != "decision" { routes.put("/api/\(list)/:id", updating(kind, required.union(optional))) }
        }
        routes.delete("/api/collections/:id", deleteCollection)
        routes.post("/api/collections/:id/restaurants", addRestaurant)
        routes.get("/api/restaurants", restaurants)
        routes.get("/api/restaurants/search", searchRestaurants)
        routes.get("/api/restaurants/:id", restaurant)
        routes.post("/api/groups/:id/invite", invite)
        routes.post("/api/groups/:id/leave", leave)
        routes.post("/api/decisions/:id/vote", vote)
        routes.post("/api/decisions/:id/complete", complete)
        routes.get("/api/notifications", notifications)
        routes.put("/api/user/notification-settings", notificationSettings)
    }

    private func listing(_ kind: String, _ list: String) -> Routes.Handler {
        { (call: Call) async throws(Refusal) -> Answer in
            _ = try await accounts.caller(call)
            return .json([list: .array(await items.all(kind))])
        }
    }

    private func adding(_ kind: String, _ required: Set<String>, _ optional: Set<String>) -> Routes.Handler {
        { (call: Call) async throws(Refusal) -> Answer in
            let account = try await accounts.caller(call)
            let fields = try call.fields(required, optional: optional)
            try Self.checkKinds(fields)
            var members = fields.members
            members["owner_id"] = .string(account.id)
            members["created_at"] = Dates.utc(Date())
            return .json([kind: await items.add(kind, members)], status: 201)
        }
    }

    private func reading(_ kind: String) -> Routes.Handler {
        { (call: Call) async throws(Refusal) -> Answer in
            _ = try await accounts.caller(call)
            return .json([kind: try await items.find(kind, call.parameters["id"])])
        }
    }

    private func updating(_ kind: String, _ optional: Set<String>) -> Routes.Handler {
        { (call: Call) async throws(Refusal) -> Answer in
            _ = try await accounts.caller(call)
            let fields = try call.fields([], optional: optional)
            try Self.checkKinds(fields)
            let change = fields.members
            return .json([kind: try await items.update(kind, call.parameters["id"], change)])
        }
    }

    /// A number where a text belongs is an error, as is a text where a truth or a list does.
    private static func checkKinds(_ fields: Fields) throws(Refusal) {
        for key in ["name", "description", "title", "group_id"] { _ = try fields.optionalText(key) }
        if fields.members["is_public"] != nil, fields.members["is_public"]?.bool == nil {
            throw .badRequest("is_public must be true or false")
        }
        if let ids = fields.members["restaurant_ids"], ids.array?.allSatisfy({ $0.string != nil }) != true {
            throw .badRequest("restaurant_ids must be a list of strings")
        }
    }

    private func deleteCollection(_ call: Call) async throws(Refusal) -> Answer {
        try call.refuseBody()
        _ = try await accounts.caller(call)
        try await items.remove("collection", call.parameters["id"])
        return .empty
    }

    private func addRestaurant(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        let id = try call.fields(["restaurant_id"]).text("restaurant_id")
        let collection = try await items.find("collection", call.parameters["id"])
        let ids = collection["restaurant_ids"]?.array ?? []
        return .json([
            "collection": try await items.update(
                "collection", call.parameters["id"], ["restaurant_ids": .array(ids + [.string(id)])])
        ])
    }

    private static let allRestaurants: [JSONValue] = restaurants.enumerated().map { index, members in
        .object(members.merging(["id": .string("restaurant-\(index + 1)")]) { own, _ in own })
    }

    private func restaurants(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        return .json(["restaurants": .array(Self.allRestaurants)])
    }

    private func restaurant(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        guard let found = Self.allRestaurants.first(where: { $0["id"]?.string == call.parameters["id"] }) else {
            throw .notFound("No such restaurant")
        }
        return .json(["restaurant": found])
    }

    private func searchRestaurants(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        try call.refuseQuery(but: ["q", "location", "lat", "lng"])
        for key in ["lat", "lng"] {
            guard let text = call.query[key] else { continue }
            guard Double(text) != nil else { throw .badRequest("\(key) must be a number") }
        }
        let found = Self.allRestaurants.filter { place in
            let text = (place["name"]?.string ?? "") + " " + (place["cuisine"]?.string ?? "")
            let query = call.query["q"]?.lowercased() ?? ""
            let location = call.query["location"]?.lowercased()
            return (query.isEmpty || text.lowercased().contains(query))
                && (location == nil || place["location"]?.string?.lowercased() == location)
        }
        return .json(["restaurants": .array(found)])
    }

    private func invite(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        let email = try call.fields(["email"]).text("email")
        _ = try await items.find("group", call.parameters["id"])
        guard Accounts.isAddress(email) else { throw .badRequest("email is not an e-mail address") }
        return .json(["message": .string("Invitation sent to \(email)")])
    }

    private func leave(_ call: Call) async throws(Refusal) -> Answer {
        try call.refuseBody()
        _ = try await accounts.caller(call)
        _ = try await items.find("group", call.parameters["id"])
        return .json(["message": "You left the group"])
    }

    private func vote(_ call: Call) async throws(Refusal) -> Answer {
        let account = try await accounts.caller(call)
        let id = try call.fields(["restaurant_id"]).text("restaurant_id")
        let decision = try await items.find("decision", call.parameters["id"])
        guard decision["status"]?.string != "completed" else { throw .conflict("The decision is completed") }
        let votes = decision["votes"]?.array ?? []
        let own: JSONValue = ["user_id": .string(account.id), "restaurant_id": .string(id)]
        return .json([
            "decision": try await items.update(
                "decision", call.parameters["id"],
                ["votes": .array(votes.filter { $0["user_id"]?.string != account.id } + [own])])
        ])
    }

    private func complete(_ call: Call) async throws(Refusal) -> Answer {
        try call.refuseBody()
        _ = try await accounts.caller(call)
        let change: [String: JSONValue] = ["status": "completed", "completed_at": Dates.utc(Date())]
        return .json(["decision": try await items.update("decision", call.parameters["id"], change)])
    }

    private func notifications(_ call: Call) async throws(Refusal) -> Answer {
        _ = try await accounts.caller(call)
        return .json(["notifications": .array(await items.all("notification"))])
    }

    private func notificationSettings(_ call: Call) async throws(Refusal) -> Answer {
        let account = try await accounts.caller(call)
        let fields = try call.fields([], optional: ["email_enabled", "push_enabled", "decision_updates"])
        guard fields.members.values.allSatisfy({ $0.bool != nil }) else {
            throw .badRequest("A setting must be true or false")
        }
        let settings = JSONValue.object(fields.members)
        try await accounts.change(account.id) { $0.preferences = settings }
        return .json(["notification_settings": settings])
    }
}
