/// The API of one server: its calls, and the body of a refusal.
protocol Shape: Sendable {
    func add(to routes: Routes)
    func body(of refusal: Refusal) -> Answer
}
