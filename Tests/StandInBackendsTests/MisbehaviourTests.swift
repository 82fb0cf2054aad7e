import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import StandInBackends
import Testing

@Suite("Stand-ins that misbehave on order")
struct MisbehaviourTests {
    private let login = "POST /auth/login"
    private let ada = Backend.appTemplate.credentials(password: "Correct-horse1")

    @Test("a status with Retry-After applies as often as configured, for its path")
    func status() async throws {
        try await Client.with { [login, ada] client async throws in
            await client.standIns.misbehave(
                .appTemplate, Misbehaviour(path: "/auth/login", times: 2, .status(503, retryAfter: "2")))
            #expect(try await client.call(.appTemplate, "GET /users").status == 401)
            for _ in 1...2 {
                let reply = try await client.call(.appTemplate, login, ada)
                #expect(reply.status == 503)
                #expect(reply.header("retry-after") == "2")
                #expect(reply.message != nil)
            }
            #expect(try await client.call(.appTemplate, login, ada).status == 200)
        }
    }

    @Test("an order without a number of times holds until it is cleared")
    func untilCleared() async throws {
        try await Client.with { [login, ada] client async throws in
            await client.standIns.misbehave(.appTemplate, Misbehaviour(.html))
            for _ in 1...3 {
                let reply = try await client.call(.appTemplate, login, ada)
                #expect(reply.status == 200)
                #expect(reply.header("content-type")?.hasPrefix("text/html") == true)
                #expect(reply.text.hasPrefix("<!DOCTYPE html>"))
            }
            client.standIns.clear(.appTemplate)
            #expect(try await client.call(.appTemplate, login, ada).status == 200)
        }
    }

    @Test("a connection is cut before the answer, and in the middle of it", arguments: Behaviour.Cut.all)
    func cut(_ place: Behaviour.Cut) async throws {
        try await Client.with { [login, ada] client async throws in
            await client.standIns.misbehave(.appTemplate, Misbehaviour(times: 1, .cut(place)))
            await #expect(throws: (any Error).self) {
                _ = try await client.call(.appTemplate, login, ada)
            }
            // A cut before the answer leaves nothing done, one in mid-body everything.
            #expect(client.standIns.secrets.filter { $0.hasPrefix("ey") }.count == (place == .midBody ? 1 : 0))
            #expect(try await client.call(.appTemplate, login, ada).status == 200)
        }
    }

    @Test("a lost answer is one whose work was done")
    func lostAnswer() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.forkInTheRoad)
            await client.standIns.misbehave(
                .forkInTheRoad, Misbehaviour(path: "/api/auth/refresh", times: 1, .lostAnswer))
            await #expect(throws: HTTPClientError.remoteConnectionClosed) {
                _ = try await client.call(.forkInTheRoad, "POST /api/auth/refresh", token: token)
            }
            client.standIns.advanceClock(by: .seconds(6))
            let late = try await client.call(.forkInTheRoad, "POST /api/auth/refresh", token: token)
            #expect(late.message == "Token has been replaced")
        }
    }

    @Test("a delayed call has arrived and is counted before it is answered")
    func delay() async throws {
        try await Client.with { [login, ada] client async throws in
            await client.standIns.misbehave(.appTemplate, Misbehaviour(.delay(.seconds(600))))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await client.call(.appTemplate, login, ada) }
                try await client.standIns.waitForCalls { $0[.appTemplate, "POST /auth/login"] == 1 }
                group.cancelAll()
                await #expect(throws: (any Error).self) { try await group.next() }
            }
        }
    }

    @Test("a slow body arrives whole, byte after byte")
    func slowBody() async throws {
        try await Client.with { [login, ada] client async throws in
            await client.standIns.misbehave(
                .appTemplate, Misbehaviour(times: 1, .slowBody(perByte: .microseconds(100))))
            let reply = try await client.call(.appTemplate, login, ada)
            #expect(try reply.json["token"] != nil)
        }
    }

    @Test("a wrong Date is off by what was ordered")
    func date() async throws {
        try await Client.with { client async throws in
            await client.standIns.misbehave(
                .appTemplate, Misbehaviour(.date(offBy: .seconds(-86_400 * 365 * 20))))
            let reply = try await client.call(.appTemplate, "GET /users")
            let date = try #require(reply.header("date"))
            #expect(date.wholeMatch(of: /\w{3}, \d\d \w{3} 20[01]\d \d\d:\d\d:\d\d GMT/) != nil)
        }
    }

    @Test("revoked tokens are refused at once, new ones are valid")
    func revoke() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.awsLambda)
            await client.standIns.misbehave(.awsLambda, Misbehaviour(.revokeTokens))
            let reply = try await client.call(.awsLambda, "GET /auth/validate", token: token)
            #expect(reply.status == 401)
            #expect(reply.message == "Token has been revoked")
            let next = try await client.signIn(.awsLambda)
            #expect(try await client.call(.awsLambda, "GET /auth/validate", token: next).status == 200)
        }
    }

    @Test("a backend that stops listening refuses connections, and returns on the same port")
    func listening() async throws {
        try await Client.with { [login, ada] client async throws in
            let url = client.standIns.url(.appTemplate)
            #expect(try await client.call(.appTemplate, login, ada).status == 200)
            for _ in 1...3 {
                try await client.standIns.setListening(false, .appTemplate)
                await #expect(throws: (any Error).self) { _ = try await client.call(.appTemplate, login, ada) }
                try await client.standIns.setListening(true, .appTemplate)
                #expect(client.standIns.url(.appTemplate) == url)
                #expect(try await client.call(.appTemplate, login, ada).status == 200)
            }
            #expect(try await client.call(.awsLambda, "GET /auth/profile").status == 401)
        }
    }

    @Test("a backend that stops listening does not wait for clients", .timeLimit(.minutes(1)))
    func connected() async throws {
        let begun = [
            "", "GET /api/x HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf",
            "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nhalfGET /",
        ]
        try await Client.with { client async throws in
            let port = try #require(URL(string: client.standIns.url(.appTemplate))?.port)
            for round in 0..<100 {
                // One that leaves its own side open when the other has closed, as a program does that is busy elsewhere.
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelOption(.allowRemoteHalfClosure, value: true)
                    .channelOption(.autoRead, value: round.isMultiple(of: 2))
                    .connect(host: "127.0.0.1", port: port).get()
                try await channel.writeAndFlush(ByteBuffer(string: begun[round % begun.count]))
                try await client.standIns.setListening(false, .appTemplate)
                try? await channel.close()
                try await client.standIns.setListening(true, .appTemplate)
            }
        }
    }
}

extension Behaviour.Cut {
    static let all: [Behaviour.Cut] = [.beforeAnswer, .midBody]
}
