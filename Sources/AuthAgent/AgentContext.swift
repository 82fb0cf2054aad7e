package import AuthModel

/// What the services of the agent share.
package struct AgentContext: Sendable {
    package let clock: any SystemClock
    package let catalog: CurrentCatalog
    package let providers: ProviderClient
    package let board: StateBoard
    package let tasks: AgentTasks
    /// Every request to a provider uses it.
    package let transport: any HTTPTransport
}
