import AuthClient

@main struct Example {
    static func main() async throws {
        let agent = try AuthClient()
        do {
            let token = try await agent.token(origin: "https://api.app-template.example", minValid: .seconds(60))
            print("A \(token.tokenType) token of \(token.session), good for a minute at least")
        } catch { print("No token: \(error)") }
        for try await event in agent.events(topics: [.session]) {
            print(event.name, event.status?.state.rawValue ?? "")
        }
    }
}
