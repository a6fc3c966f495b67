import Reactor

/// One `TurnBudget` for everything that belongs to one edge.
@ReactorActor
final class EdgeBudget {
    private let loop: EventLoop
    private var budget = TurnBudget()

    init(_ loop: EventLoop) { self.loop = loop }

    /// Whether one more piece of work may begin in this turn of the loop.
    var allows: Bool { budget.allows(turn: loop.turn, at: loop.nanosecondsSinceBoot) }

    func spend(_ octets: Int) { budget.spend(octets) }
}
