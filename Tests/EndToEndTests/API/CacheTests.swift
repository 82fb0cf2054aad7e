import AuthWire
import StandInBackends
import TestSupport
import Testing

@Suite("Cached responses", .serialized)
struct CacheTests {
    @Test("E: a fetched user is cached, an update replaces the copy, a delete removes it")
    func users() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let me = try await scene.agent.status("app-template").user?.id ?? ""
            func user() async throws -> JSON { try await scene.agent.json("call", "user", "id=\(me)") }
            let first = try await user()
            let second = try await user()
            #expect(first["from_cache"] == false && second["from_cache"] == true)
            #expect(second["age_ms"]?.integerValue != nil)
            #expect(scene.backends.counts[.appTemplate, "GET /users/\(me)"] == 1)
            let changed = try await scene.agent.authc("call", "update-user", "id=\(me)", "name=Countess Ada")
            #expect(changed.status == 0, "\(changed.err)")
            let third = try await user()
            #expect(third["from_cache"] == true && third["body"]?["user"]?["name"] == "Countess Ada")
            #expect(scene.backends.counts[.appTemplate, "GET /users/\(me)"] == 1)
            let deleted = try await scene.agent.authc("call", "delete-user", "id=\(me)")
            #expect(deleted.status == 0, "\(deleted.err)")
            let gone = try await scene.agent.authc("call", "user", "id=\(me)", "--cache", "only")
            #expect(gone.status == 65 && gone.err.contains("No cached response exists"), "\(gone.err)")
        }
    }

    @Test("D: a read is cached for 300 s, served while the backend cannot be reached, and removed after sign-out")
    func reads() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            let first = try await scene.agent.authc("request", "GET", "/api/restaurants")
            let second = try await scene.agent.authc("request", "GET", "/api/restaurants")
            #expect(
                first.status == 0 && first.out == second.out && second.err.contains("from the cache"), "\(first.err)")
            #expect(scene.backends.counts[.forkInTheRoad, "GET /api/restaurants"] == 1)
            try await scene.backends.setListening(false, .forkInTheRoad)
            let away = try await scene.agent.authc("call", "restaurants")
            #expect(away.status == 0 && away.out == first.out)
            let unknown = try await scene.agent.authc("call", "groups", "--no-retry")
            #expect(unknown.status == 75, "\(unknown.err)")
            try await scene.backends.setListening(true, .forkInTheRoad)
            let out = try await scene.agent.authc("logout")
            #expect(out.status == 0, "\(out.err)")
            _ = try await scene.login(.forkInTheRoad)
            let after = try await scene.agent.authc("call", "restaurants", "--cache", "only")
            #expect(after.status == 65, "\(after.out)")
        }
    }

    @Test("E: a tagged response is revalidated with its tag, and variants are separate")
    func tagged() async throws {
        try await Scene.play { scene in
            let login = try await scene.login(.appTemplate)
            #expect(login.status == 0, "\(login.err)")
            let path = "/users/search"
            func search(_ arguments: String...) async throws -> JSON {
                let output = try await scene.authc(["request", "GET", path + "?q=ada", "--json"] + arguments)
                #expect(output.status == 0, "\(output.out)\(output.err)")
                return try JSON(parsing: output.out)
            }
            var tagged = Behaviour()
            tagged.headers = ["ETag": "\"1\"", "Cache-Control": "no-cache"]
            await scene.backends.misbehave(.appTemplate, Misbehaviour(path: path, times: 1, tagged))
            let first = try await search()
            #expect(first["from_cache"] == false)
            // The response has no body: the cached one is returned.
            await scene.backends.misbehave(.appTemplate, Misbehaviour(path: path, times: 1, .status(304)))
            let confirmed = try await search()
            #expect(confirmed["from_cache"] == true && confirmed["status"] == 200)
            #expect(confirmed["body"] == first["body"] && first["body"]?["users"] != nil)

            scene.backends.clear(.appTemplate)
            var varied = Behaviour()
            varied.headers = ["Vary": "Accept-Language", "Cache-Control": "max-age=60"]
            await scene.backends.misbehave(.appTemplate, Misbehaviour(path: path, varied))
            var cached: [JSON?] = []
            for language in ["de", "de", "pt", "de", "pt"] {
                cached.append(try await search("-H", "Accept-Language: \(language)")["from_cache"])
            }
            #expect(cached == [false, true, false, true, true])
        }
    }

    @Test("A: nothing is cached")
    func never() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.awsLambda)
            for _ in 1...2 {
                let answer = try await scene.agent.authc("call", "profile")
                #expect(answer.status == 0 && answer.err == "")
            }
            #expect(scene.backends.counts[.awsLambda, "GET /auth/profile"] == 2)
        }
    }
}
