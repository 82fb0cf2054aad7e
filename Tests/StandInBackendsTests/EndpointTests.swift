import StandInBackends
import Testing

@Suite("The stand-ins' other calls")
struct EndpointTests {
    @Test("B: the profile is read and written for the token's own user, inside the envelope")
    func envelope() async throws {
        try await Client.with { client async throws in
            let login = try await client.call(
                .envelope, "POST /auth/login", Backend.envelope.credentials(password: "Correct-horse1")
            ).json
            let token = try #require(login["token"]?.string)
            let id = try #require(login["user"]?["userId"]?.string)
            let read = try await client.call(.envelope, "GET /users/profile?userId=\(id)", token: token).json
            #expect(read["user"]?["name"]?.string == "Ada Lovelace")
            let written = try await client.call(
                .envelope, "POST /users/profile", ["userId": .string(id), "name": "Countess Ada"], token: token
            ).json
            #expect(written["user"]?["name"]?.string == "Countess Ada")
            let other = try await client.call(.envelope, "GET /users/profile?userId=else", token: token)
            #expect(other.status == 200)
            #expect(try other.json["errorCode"]?.integer == 1003)
        }
    }

    @Test("D: a collection is made, filled, changed and deleted, with nothing in the last answer")
    func collections() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.forkInTheRoad)
            func call(_ call: String, _ body: JSONValue? = nil) async throws -> Client.Reply {
                try await client.call(.forkInTheRoad, call, body, token: token)
            }
            let made = try await call("POST /api/collections", ["name": "Lunch"]).json
            let id = try #require(made["collection"]?["id"]?.string)
            _ = try await call("POST /api/collections/\(id)/restaurants", ["restaurant_id": "restaurant-1"])
            let changed = try await call("PUT /api/collections/\(id)", ["name": "Dinner"]).json
            #expect(changed["collection"]?["name"]?.string == "Dinner")
            #expect(changed["collection"]?["restaurant_ids"]?.array == ["restaurant-1"])
            #expect(try await call("GET /api/collections").json["collections"]?.array?.count == 1)
            let deleted = try await call("DELETE /api/collections/\(id)")
            #expect(deleted.status == 204)
            #expect(deleted.text.isEmpty)
            #expect(try await call("GET /api/collections/\(id)").status == 404)
        }
    }

    @Test("D: restaurants, groups, decisions, notifications and settings answer in their wrappers")
    func restOfFork() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.forkInTheRoad)
            func call(_ call: String, _ body: JSONValue? = nil) async throws -> JSONValue {
                let reply = try await client.call(.forkInTheRoad, call, body, token: token)
                #expect((200...201).contains(reply.status), "\(call): \(reply.text)")
                return try reply.json
            }
            #expect(try await call("GET /api/restaurants")["restaurants"]?.array?.count == 3)
            let found = try await call("GET /api/restaurants/search?q=ramen&location=Lisbon")["restaurants"]
            #expect(found?.array?.count == 1)
            #expect(try await call("GET /api/restaurants/restaurant-2")["restaurant"]?["name"]?.string == "Casa Ada")
            let group = try #require(try await call("POST /api/groups", ["name": "Team"])["group"]?["id"]?.string)
            #expect(try await call("PUT /api/groups/\(group)", ["name": "Crew"])["group"]?["name"]?.string == "Crew")
            _ = try await call("POST /api/groups/\(group)/invite", ["email": "bob@example.org"])
            _ = try await call("POST /api/groups/\(group)/leave")
            let decision = try #require(
                try await call("POST /api/decisions", ["title": "Where?"])["decision"]?["id"]?.string)
            let vote: JSONValue = ["restaurant_id": "restaurant-1"]
            #expect(
                try await call("POST /api/decisions/\(decision)/vote", vote)["decision"]?["votes"]?.array?.count == 1)
            _ = try await call("POST /api/decisions/\(decision)/complete")
            let late = try await client.call(
                .forkInTheRoad, "POST /api/decisions/\(decision)/vote", vote, token: token)
            #expect(late.status == 409)
            #expect(try await call("GET /api/notifications")["notifications"] == [])
            let settings = try await call("PUT /api/user/notification-settings", ["push_enabled": true])
            #expect(settings["notification_settings"]?["push_enabled"]?.bool == true)
        }
    }

    @Test("E: users are made, searched, paged, changed by their owner only, and deleted")
    func users() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.appTemplate)
            func call(_ call: String, _ body: JSONValue? = nil) async throws -> Client.Reply {
                try await client.call(.appTemplate, call, body, token: token)
            }
            let bob = try await call(
                "POST /users", ["email": "bob@example.org", "password": "Long-enough", "name": "Bob"])
            #expect(bob.status == 201)
            let bobID = try #require(try bob.json["user"]?["id"]?.string)
            #expect(try await call("GET /users/search?q=bob").json["users"]?.array?.count == 1)
            let page = try await call("GET /users?page=1&limit=1").json
            #expect(page["total"]?.integer == 2)
            #expect(page["hasNext"]?.bool == true)
            #expect(try await call("GET /users?page=2&limit=1").json["hasNext"]?.bool == false)
            #expect(try await call("GET /users/\(bobID)").json["user"]?["name"]?.string == "Bob")
            #expect(try await call("PUT /users/\(bobID)", ["name": "Rob"]).status == 403)
            let own = try #require(
                try await call("PUT /profile", ["name": "Ada King"]).json["profile"]?["id"]?.string)
            #expect(try await call("GET /profile/\(own)").json["profile"]?["name"]?.string == "Ada King")
            let preferences = try await call("PUT /profile/preferences", ["theme": "dark"]).json
            #expect(preferences["preferences"]?["theme"]?.string == "dark")
            #expect(try await call("DELETE /users/\(own)").status == 204)
            #expect(try await call("GET /users").status == 401)
        }
    }

    @Test("E: an avatar must be one file part of the right name and type")
    func avatar() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.appTemplate)
            func upload(name: String, type: String, boundary: String = "b0", end: String = "--b0--") async throws
                -> Client.Reply
            {
                let body = """
                    --b0\r
                    Content-Disposition: form-data; name="\(name)"; filename="avatar.jpg"\r
                    Content-Type: \(type)\r
                    \r
                    picture\r
                    \(end)\r

                    """
                return try await client.raw(
                    .appTemplate, "POST /profile/avatar", body,
                    headers: [
                        "authorization": "Bearer \(token)", "content-type": "multipart/form-data; boundary=\(boundary)",
                    ])
            }
            let good = try await upload(name: "avatar", type: "image/jpeg")
            #expect(try good.json["avatarURL"]?.string?.hasPrefix("https://") == true, "\(good.text)")
            #expect(try await upload(name: "picture", type: "image/jpeg").status == 400)
            #expect(try await upload(name: "avatar", type: "image/png").status == 400)
            #expect(try await upload(name: "avatar", type: "image/jpeg", boundary: "b1").status == 400)
            #expect(try await upload(name: "avatar", type: "image/jpeg", end: "--b0").status == 400)
        }
    }
}
