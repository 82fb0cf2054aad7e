import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

/// One row of a backend's table of calls.
struct EndpointRow: Sendable, CustomTestStringConvertible {
    let backend: Backend
    /// As the backend counts it, with what was made before.
    let call: String
    /// The arguments of `authc call`, the row's own call last.
    let typed: [[String]]
    /// What stands in its answer.
    let shows: String

    init(_ backend: Backend, _ call: String, _ typed: [String]..., shows: String) {
        self.backend = backend
        self.call = call
        self.typed = typed
        self.shows = shows
    }

    var testDescription: String { "\(backend.rawValue) \(call)" }

    static let all: [EndpointRow] = a + b + c + d + e

    static let a = [
        EndpointRow(.awsLambda, "GET /auth/validate", ["validate"], shows: #""message":"Session is valid""#),
        EndpointRow(.awsLambda, "GET /auth/profile", ["profile"], shows: #""displayName":"Ada Lovelace""#),
        EndpointRow(
            .awsLambda, "PUT /auth/profile", ["update-profile", "firstName=Countess", "phoneNumber=0123"],
            shows: #""phoneNumber":"0123""#),
    ]

    static let b = [
        EndpointRow(.envelope, "GET /users/profile", ["profile"], shows: #""name":"Ada Lovelace""#),
        EndpointRow(
            .envelope, "POST /users/profile", ["update-profile", "name=Countess Ada"], shows: #""name":"Countess Ada""#),
    ]

    static let c = [
        EndpointRow(
            .anonymousWall, "POST /api/v1/auth/email/send-code",
            ["send-code", "email=ada@example.org", "purpose=login"], shows: #"{"message":"Verification code sent"}"#),
        EndpointRow(
            .anonymousWall, "POST /api/v1/auth/email/send-code",
            ["send-code", "email=eve@example.org", "purpose=register"], shows: "Verification code sent\n"),
        EndpointRow(
            .anonymousWall, "POST /api/v1/auth/password/reset-request", ["request-reset", "email=ada@example.org"],
            shows: "If the account exists, a code was sent\n"),
    ]

    static let d: [EndpointRow] = {
        let collection = ["create-collection", "name=Lunch", "is_public=true"]
        let group = ["create-group", "name=Friends"]
        let decision = ["create-decision", "title=Where?", #"restaurant_ids:=["restaurant-1"]"#]
        func row(_ call: String, _ typed: [String]..., shows: String) -> EndpointRow {
            let words = call.split(separator: " ")
            return EndpointRow(.forkInTheRoad, "\(words[0]) /api/\(words[1])", typed, shows)
        }
        return [
            row("GET auth/me", ["me"], shows: #""email":"ada@example.org""#),
            row("GET collections", collection, ["collections"], shows: #"{"collections":[{"#),
            row("POST collections", collection, shows: #""is_public":true"#),
            row(
                "GET collections/collection-1", collection, ["collection", "id=collection-1"], shows: #""name":"Lunch""#
            ),
            row(
                "PUT collections/collection-1", collection, ["update-collection", "id=collection-1", "name=Dinner"],
                shows: #""name":"Dinner""#),
            row("DELETE collections/collection-1", collection, ["delete-collection", "id=collection-1"], shows: ""),
            row(
                "POST collections/collection-1/restaurants", collection,
                ["add-restaurant", "id=collection-1", "restaurant_id=restaurant-2"],
                shows: #""restaurant_ids":["restaurant-2"]"#),
            row("GET restaurants", ["restaurants"], shows: #"{"restaurants":[{"#),
            row("GET restaurants/restaurant-2", ["restaurant", "id=restaurant-2"], shows: #""name":"Casa Ada""#),
            row(
                "GET restaurants/search", ["search-restaurants", "q=ramen", "location=Lisbon", "lat=38.7", "lng=-9.1"],
                shows: "Noodle & Co."),
            row("GET groups", group, ["groups"], shows: #"{"groups":[{"#),
            row("POST groups", group, shows: #""name":"Friends""#),
            row("GET groups/group-1", group, ["group", "id=group-1"], shows: #""name":"Friends""#),
            row(
                "PUT groups/group-1", group, ["update-group", "id=group-1", "description=All of us"],
                shows: #""description":"All of us""#),
            row(
                "POST groups/group-1/invite", group, ["invite", "id=group-1", "email=bob@example.org"],
                shows: "Invitation sent to bob@example.org"),
            row("POST groups/group-1/leave", group, ["leave-group", "id=group-1"], shows: "You left the group"),
            row("GET decisions", decision, ["decisions"], shows: #"{"decisions":[{"#),
            row("POST decisions", decision, shows: #""restaurant_ids":["restaurant-1"]"#),
            row("GET decisions/decision-1", decision, ["decision", "id=decision-1"], shows: #""title":"Where?""#),
            row(
                "POST decisions/decision-1/vote", decision, ["vote", "id=decision-1", "restaurant_id=restaurant-1"],
                shows: #""votes":[{"#),
            row(
                "POST decisions/decision-1/complete", decision, ["complete-decision", "id=decision-1"],
                shows: #""status":"completed""#),
            row("GET user/profile", ["profile"], shows: #""name":"Ada Lovelace""#),
            row("PUT user/profile", ["update-profile", "phone_number=0123"], shows: #""user":{"#),
            row("GET notifications", ["notifications"], shows: #"{"notifications":[]}"#),
            row(
                "PUT user/notification-settings", ["notification-settings", "email_enabled=false"],
                shows: #""email_enabled":false"#),
        ]
    }()

    static let e: [EndpointRow] = [
        EndpointRow(.appTemplate, "GET /users/$me", ["user", "id=$me"], shows: #""email":"ada@example.org""#),
        EndpointRow(
            .appTemplate, "PUT /users/$me", ["update-user", "id=$me", "name=Countess"], shows: #""name":"Countess""#),
        EndpointRow(.appTemplate, "DELETE /users/$me", ["delete-user", "id=$me"], shows: ""),
        EndpointRow(.appTemplate, "GET /users/search", ["search-users", "q=lovelace"], shows: #"{"users":[{"#),
        EndpointRow(.appTemplate, "GET /users", ["users", "page=1", "limit=5"], shows: #""hasNext":false"#),
        EndpointRow(
            .appTemplate, "PUT /profile", ["update-profile", "name=Ada King"], shows: #""name":"Ada King""#),
        EndpointRow(.appTemplate, "GET /profile/$me", ["profile", "id=$me"], shows: #""profile":{"#),
        EndpointRow(
            .appTemplate, "PUT /profile/preferences", ["preferences", "theme=dark", "notificationsEnabled=true"],
            shows: #""notificationsEnabled":true"#),
        EndpointRow(
            .appTemplate, "POST /profile/avatar", ["avatar", "avatar=@$picture"],
            shows: #"{"avatarURL":"https://cdn.example.org/avatars/$me.jpg"}"#),
    ]

    private init(_ backend: Backend, _ call: String, _ typed: [[String]], _ shows: String) {
        self.backend = backend
        self.call = call
        self.typed = typed
        self.shows = shows
    }
}

@Suite("Every call of the five backends, by name", .serialized)
struct EndpointRowTests {
    @Test("is made through the agent as its table says", arguments: EndpointRow.all)
    func row(row: EndpointRow) async throws {
        try await Scene.play { scene in
            let login = try await scene.login(row.backend)
            #expect(login.status == 0, "\(login.err)")
            let me = try await scene.agent.status(row.backend.rawValue).user?.id ?? ""
            let picture = try scene.desktop.folder.write("\u{FF}\u{D8} a picture", to: "ada.jpg")
            func filled(_ text: String) -> String {
                text.replacing("$me", with: me).replacing("$picture", with: picture)
            }
            for (index, typed) in row.typed.enumerated() {
                let answer = try await scene.agent.authc(["call"] + typed.map(filled))
                #expect(answer.status == 0, "\(typed): \(answer.err)")
                guard index == row.typed.count - 1 else { continue }
                let shows = filled(row.shows)
                #expect(shows.isEmpty ? answer.out.isEmpty : answer.out.contains(shows), "\(answer.out)")
            }
            #expect(scene.backends.counts[row.backend, filled(row.call)] == 1)
        }
    }

    @Test(
        "a secret argument is read from a descriptor, never from argv",
        arguments: [Backend.anonymousWall, .appTemplate])
    func secrets(backend: Backend) async throws {
        try await Scene.play { scene in
            _ = try await scene.login(backend)
            let file = try scene.desktop.folder.write("New-password2\n", to: "secret")
            let authc = Programs.authc
            let (shown, typed) =
                backend == .anonymousWall
                ? (
                    ["change-password", "oldPassword=Correct-horse1"],
                    "\(authc) call change-password --secret-fd oldPassword=3 --secret-fd newPassword=4 3<old 4<\(file)"
                )
                : (
                    ["create-user", "email=eve@example.org", "name=Eve", "password=New-password2"],
                    "\(authc) call create-user email=eve@example.org name=Eve --secret-fd password=3 3<\(file)"
                )
            let refused = try await scene.agent.authc(["call"] + shown)
            #expect(
                refused.status == 64 && refused.err.contains("every program on this machine can read"), "\(refused.err)"
            )
            #expect(!refused.err.contains("Correct-horse1") && !refused.err.contains("New-password2"))
            _ = try scene.desktop.folder.write("Correct-horse1", to: "old")
            let done = try await scene.desktop.run(["bash", "-c", "cd \(scene.desktop.folder.path); \(typed)"])
            #expect(done.status == 0, "\(done.err)")
            let again = try await scene.login(backend, password: "New-password2")
            if backend == .anonymousWall { #expect(again.status == 0, "\(again.err)") }
        }
    }

    @Test("pages are walked to the last, one line of JSON an item")
    func pages() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let file = try scene.desktop.folder.write("New-password2\n", to: "secret")
            for number in 1...6 {
                let typed =
                    "call create-user email=p\(number)@example.org name=P\(number) --secret-fd password=3 3<\(file)"
                let made = try await scene.desktop.run(["bash", "-c", "\(Programs.authc) \(typed)"])
                #expect(made.status == 0, "\(made.err)")
            }
            let all = try await scene.agent.authc("call", "users", "limit=3", "--all")
            let lines = all.out.split(separator: "\n")
            #expect(all.status == 0 && lines.count == 7, "\(all.err)")
            let emails = try lines.map { try JSON(parsing: String($0))["email"]?.stringValue }
            #expect(Set(emails).count == 7 && emails.contains("p6@example.org"))
            #expect(scene.backends.counts[.appTemplate, "GET /users"] == 3)
            let none = try await scene.agent.authc("call", "search-users", "q=a", "--all")
            #expect(none.status == 0 && none.out.contains("users"), "\(none.out)\(none.err)")
        }
    }

    @Test("missing and unknown arguments are reported before anything is sent")
    func arguments() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            let before = scene.backends.counts[.forkInTheRoad]
            let refused = try await scene.agent.authc("call", "vote", "restaurantId=1")
            #expect(refused.status == 65)
            for words in ["id is required", "restaurant_id is required", "restaurantId is unknown", "Nothing was sent"]
            {
                #expect(refused.err.contains(words), "\(refused.err)")
            }
            let unknown = try await scene.agent.authc("call", "fly")
            #expect(unknown.status == 64 && unknown.err.contains("--endpoints"), "\(unknown.err)")
            #expect(scene.backends.counts[.forkInTheRoad] == before)
        }
    }

    @Test("they are listed with their arguments, and all of them are tried here")
    func listed() async throws {
        let listed = try await ProviderEndpoints.all()
        let tried = Dictionary(grouping: EndpointRow.all, by: \.backend).mapValues {
            Set($0.flatMap { $0.typed.map { $0[0] } })
        }
        for backend in Backend.allCases {
            let secret: Set = ["change-password", "create-user"]
            #expect(listed[backend]?.subtracting(secret) == tried[backend], "\(backend)")
        }
    }
}

enum ProviderEndpoints {
    /// By backend, what `authc provider show --endpoints` lists.
    static func all() async throws -> [Backend: Set<String>] {
        let found = Mutex<[Backend: Set<String>]>([:])
        try await Scene.play(keyring: false) { scene in
            for backend in Backend.allCases {
                let shown = try await scene.agent.authc("provider", "show", backend.rawValue, "--endpoints")
                #expect(shown.status == 0 && shown.out.contains("  "), "\(shown.err)")
                let json = try await scene.agent.json("provider", "show", backend.rawValue, "--endpoints")
                let names = (json.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
                for name in names { #expect(shown.out.contains(name)) }
                found.withLock { $0[backend] = Set(names) }
            }
        }
        return found.withLock { $0 }
    }
}
