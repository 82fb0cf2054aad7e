/// One server's way of speaking: its calls, and its body for a no.
protocol Shape: Sendable {
    func add(to routes: Routes)
    func body(of refusal: Refusal) -> Answer
}
