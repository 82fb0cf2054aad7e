package import AuthAgent
package import AuthModel
package import AuthWire

/// What the agent reaches the world by: each port of AuthModel with its adapter.
package struct AgentDependencies: Sendable {
    let store: MovableStore
    let outbox: any OutboxStore
    let transport: any HTTPTransport
    let network: any NetworkWatch
    let sleep: any SleepWatch
    let desktop: any Notifier
    let clock: any SystemClock
    let tools: SignInDependencies
    let signOuts: (any StateStore<[SessionName: SignInID]>)?
    let handover: (any HandoverStore)?

    package init(
        store: MovableStore, outbox: any OutboxStore, transport: any HTTPTransport, network: any NetworkWatch,
        sleep: any SleepWatch, desktop: any Notifier, clock: any SystemClock, tools: SignInDependencies,
        signOuts: (any StateStore<[SessionName: SignInID]>)?, handover: (any HandoverStore)? = nil
    ) {
        self.store = store
        self.outbox = outbox
        self.transport = transport
        self.network = network
        self.sleep = sleep
        self.desktop = desktop
        self.clock = clock
        self.tools = tools
        self.signOuts = signOuts
        self.handover = handover
    }
}
