import Platform
import Reactor

/// The events of `MQTTEdge` on their way to its handler: in order, never from within a call to the edge, and in each turn of
/// the loop no more than its budget allows.
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
    /// For the work that the deliveries cause.
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

    /// Delivers what this turn's budget allows, including what a handler adds; the rest follows in the next turn.
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
