import Platform
import Reactor

/// Delivers the events of `MQTTEdge` to its handler: in order, never during a call to the edge, and within the budget
/// of each turn of the loop.
@ReactorActor
final class MQTTDeliveries {
    private enum Delivery {
        case event(MQTTEvent)
        case finished(@ReactorActor () -> Void)
    }

    private let loop: EventLoop
    private let handler: @ReactorActor (MQTTEvent) -> Void
    private var waiting: [Delivery] = []
    private var isDelivering = false
    /// Limits the work that handling the deliveries causes.
    private let budget: EdgeBudget
    private lazy var timer = loop.timer { [weak self] in self?.deliver() }

    init(_ loop: EventLoop, _ handler: @escaping @ReactorActor (MQTTEvent) -> Void) {
        self.loop = loop
        self.handler = handler
        budget = EdgeBudget(loop)
    }

    var isEmpty: Bool { waiting.isEmpty }

    func add(_ event: MQTTEvent) { waiting.append(.event(event)) }

    func add(finished: @escaping @ReactorActor () -> Void) { waiting.append(.finished(finished)) }

    /// Delivers on the next turn of the loop.
    func deliverSoon() {
        if !waiting.isEmpty, !isDelivering { timer.set(at: loop.nanosecondsSinceBoot) }
    }

    /// Delivers events within the turn's budget, including those that a handler adds. Others follow in the next turn.
    func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        var next = 0
        while next < waiting.count, budget.allows {
            switch waiting[next] {
            case .event(let event): handler(event)
            case .finished(let finished): finished()
            }
            next += 1
        }
        guard next == waiting.count else {
            waiting.removeFirst(next)
            return timer.set(at: 0)
        }
        waiting.removeAll(keepingCapacity: next <= Int(MQTTClient.packetsPerTurn))
    }
}
