package import AuthModel

/// Makes something from random numbers.
package protocol RandomChoice {
    var random: SeededRandom { get set }
}

extension RandomChoice {
    package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    package mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int.random(in: choices.indices, using: &random)]
    }
}
