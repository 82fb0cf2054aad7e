import Glibc

// The program's signals are received in one place; every thread inherits this mask.
let signals = EndSignals()
let arguments = GatewayProcess.begin()
// A task that the main thread starts or waits for would get a priority that the system refuses to users.
Task.detached(priority: .medium) { [arguments, signals] in
    switch arguments.purpose {
    case .bridge(let bridge): await BridgeProgram(arguments: bridge, signals: signals).run()
    case .proxy(let proxy): await ProxyProgram(arguments: proxy, signals: signals).run()
    case .endpoint(let endpoint): await EndpointProgram(arguments: endpoint, signals: signals).run()
    case .aws(let aws): await AWSProgram(arguments: aws).run()
    case .trial: await TrialProgram(signals: signals).run()
    }
}
while true { pause() }
