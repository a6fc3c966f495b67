import ButtonModel
import Rules
import TestSupport
import Testing

@Suite("Which rules concern a button")
struct RuleIndexTests {
    @Test("a button has the name of the first declaration that fits")
    func names() {
        let engine = House.engine(
            [],
            buttons: [
                DeclaredButton(name: "by_serial", hardware: .serial("BA00-K00001")),
                DeclaredButton(name: "by_nickname", hardware: .nickname("Kitchen"), triggerMode: .click),
            ])
        #expect(engine.declaredName(of: House.kitchenID) == "by_serial")
        #expect(engine.fixedTriggerMode(of: House.kitchenID) == nil)
        #expect(engine.declaredName(of: House.hallID) == nil)
    }

    @Test("rules for any button count for every button")
    func gestures() {
        let engine = House.engine([
            Rule(id: "a", triggers: [Trigger(buttons: [.any], events: [.gesture(.hold), .raw(.down)])], actions: []),
            House.rule("b", actions: []),
        ])
        #expect(engine.gesturesUsed(on: House.kitchenID) == [.hold, .click])
        #expect(engine.gesturesUsed(on: House.hallID) == [.hold])
    }

    @Test(
        "each way to describe a button finds it",
        arguments: [
            DeclaredButton.Hardware.uuid("00112233445566778899aabbccddeeff"), .serial("BA00-K00001"),
            .address(House.kitchenID), .nickname("Kitchen"),
        ])
    func descriptions(hardware: DeclaredButton.Hardware) {
        let rule = Rule(
            id: "a", triggers: [Trigger(buttons: [.hardware(hardware)], events: [.gesture(.click)])],
            actions: [House.log])
        var talk = Transcript(House.engine([rule], buttons: []))
        #expect(talk.given(.occurred(House.kitchen(.click))).count == 3)
        var hall = House.kitchen(.click)
        hall.button = House.hallID
        talk.when(.occurred(hall))
    }

    @Test("a button that is paired later is found, one that is forgotten no longer")
    func changes() {
        var talk = Transcript(House.engine([House.rule("say", actions: [House.log])]))
        talk.when(.buttonsChanged([]))
        talk.when(.occurred(House.kitchen(.click)))
        talk.when(.buttonsChanged(House.identities))
        #expect(talk.given(.occurred(House.kitchen(.click))).count == 3)
    }

    @Test("rules start in the order of the file, those for any button among the others")
    func order() {
        let any = Rule(
            id: "any", triggers: [Trigger(buttons: [.any], events: [.gesture(.click)])], actions: [House.log])
        var talk = Transcript(
            House.engine([House.rule("a", actions: [House.log]), any, House.rule("b", actions: [House.log])]))
        let started = talk.given(.occurred(House.kitchen(.click))).compactMap { effect -> String? in
            if case .started(_, let rule, _) = effect { rule } else { nil }
        }
        #expect(started == ["a", "any", "b"])
    }
}
