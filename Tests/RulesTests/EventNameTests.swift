import ButtonModel
import Gestures
import Testing

@testable import Rules

@Suite("Names of events")
struct EventNameTests {
    private static let recognised: [(what: RecognisedEvent.Kind, event: TriggerEvent)] =
        [
            (.down, .down), (.up, .up), (.hold(after: .seconds(2)), .hold(after: nil)), (.holdRelease, .holdRelease),
            (.rotation(steps: 3, collect: .zero), .rotate(.clockwise, collect: TriggerEvent.standardCollect)),
            (.rotation(steps: -3, collect: .zero), .rotate(.counterClockwise, collect: TriggerEvent.standardCollect)),
        ] + SwipeDirection.allCases.map { (.swipe($0), .swipe($0)) }
        + (1...8).map { count in
            let presses = Array(repeating: PressLength.short, count: count)
            return (.pattern(presses), .pattern(presses))
        }

    @Test("what the recogniser reports, topics and rules have the same name", arguments: recognised)
    func same(what: RecognisedEvent.Kind, event: TriggerEvent) {
        #expect(what.name == event.name)
        #expect(what.publishedName == event.name)
        #expect(TriggerEvent(name: event.name) == event)
    }

    @Test("a pattern with a long press and a chord have names in rules, and none in topics")
    func unpublished() {
        #expect(RecognisedEvent.Kind.pattern([.short, .long]).name == "pattern")
        #expect(RecognisedEvent.Kind.pattern([.short, .long]).publishedName == nil)
        #expect(RecognisedEvent.Kind.pattern([]).publishedName == nil)
        #expect(RecognisedEvent.Kind.chord(0).name == "chord")
        #expect(RecognisedEvent.Kind.chord(0).publishedName == nil)
    }

    @Test("a rule file writes numbers of clicks and patterns with keys of their own")
    func notation() {
        #expect(TriggerEvent.doubleClick.notation == "double_click")
        #expect(TriggerEvent.pattern([.short, .short, .short]).notation == "clicks: 3")
        #expect(TriggerEvent.pattern([.short, .long]).notation == "pattern: [short, long]")
        #expect(TriggerEvent(name: "clicks_9") == nil)
        #expect(TriggerEvent(name: "pattern") == nil)
        for (name, event) in TriggerEvent.byName { #expect(event.notation == name) }
    }

    @Test("each model reports the swipes and rotations that its name in the table says")
    func models() {
        #expect(FlicModel.flic2.movementNames == [])
        #expect(FlicModel.twist.movementNames == RotationDirection.allCases.map(\.rawValue))
        #expect(FlicModel.duo.movementNames.count == 6)
        #expect(!FlicModel.twist.supports(.swipe(.left)))
        #expect(FlicModel.duo.supports(.swipe(.left)))
    }
}
