package import Reactor

/// The `TurnBudget` that everything in one edge shares.
@ReactorActor
package final class EdgeBudget {
    private let loop: EventLoop
    private var budget = TurnBudget()

    package init(_ loop: EventLoop) { self.loop = loop }

    /// True if one more piece of work may begin in this turn of the loop.
    package var allows: Bool { budget.allows(turn: loop.turn, at: loop.nanosecondsSinceBoot) }

    package func spend(_ octets: Int) { budget.spend(octets) }
}
