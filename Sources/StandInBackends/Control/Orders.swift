import Synchronization

/// The misbehaviours of one backend, oldest first. The first one that matches a call applies.
final class Orders: Sendable {
    private let orders = Mutex<[Misbehaviour]>([])

    func add(_ order: Misbehaviour) {
        orders.withLock { $0.append(order) }
    }

    func clear() {
        orders.withLock { $0 = [] }
    }

    /// The behaviour for this call. A misbehaviour is removed after its last call.
    func next(method: String, path: String) -> Behaviour? {
        orders.withLock { orders in
            let index = orders.firstIndex { order in
                (order.path == nil || order.path == path) && (order.method == nil || order.method == method)
            }
            guard let index else { return nil }
            let behaviour = orders[index].behaviour
            if let times = orders[index].times {
                orders[index].times = times - 1
                if times <= 1 { orders.remove(at: index) }
            }
            return behaviour
        }
    }
}
