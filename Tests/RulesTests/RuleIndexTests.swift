import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Rules of a button")
struct RuleIndexTests {
    @Test("a button has the name of the first declaration that matches, and is found by each of its names")
    func names() {
        let engine = House.talk(
            House.set(
                [],
                buttons: [
                    DeclaredButton(name: "by_serial", hardware: .serial("BA00-A00001")),
                    DeclaredButton(name: "by_nickname", hardware: .nickname("Button 1")),
                ])
        ).machine
        #expect(engine.declaredName(of: House.kitchen) == "by_serial")
        #expect(engine.declaredName(of: House.hall) == nil)
        for name in [
            "by_serial", "by_nickname", String(repeating: "1", count: 32), "BA00-A00001", "80:E4:DA:00:00:01",
            "80e4da000001", "Button 1",
        ] {
            #expect(engine.button(named: name) == House.kitchen)
        }
        #expect(engine.button(named: "nobody") == nil)
    }

    @Test(
        "a selector by uuid, serial, address or nickname matches its button only",
        arguments: [
            DeclaredButton.Hardware.uuid(String(repeating: "1", count: 32)), .serial("BA00-A00001"),
            .address(House.kitchen), .nickname("Button 1"),
        ])
    func descriptions(hardware: DeclaredButton.Hardware) {
        var talk = House.talk(House.set([.on(.click, of: .hardware(hardware), do: .say("hello"))], buttons: []))
        #expect(talk.click().first == "started 1 rule")
        #expect(talk.click(of: House.hall) == [])
    }

    @Test("a button's rules apply when it is paired, and not before")
    func changes() {
        var talk = House.talk(.on(.click, do: .say("hello")))
        talk.given(.buttonsChanged([]))
        #expect(talk.click() == [])
        talk.given(.buttonsChanged(House.identities))
        #expect(talk.click().first == "started 1 rule")
    }

    @Test("rules start in the order of the file, rules for any button among the others")
    func order() {
        var talk = House.talk(
            .on(.click, id: "a", do: .say("hello")), .on(.click, of: .any, id: "any", do: .say("hello")),
            .on(.click, id: "b", do: .say("hello")))
        #expect(talk.click().prefix(3) == ["started 1 a", "started 2 any", "started 3 b"])
        #expect(talk.click(of: House.stranger).first == "started 4 any")
    }

    @Test("a rule for one part of a button does not start for the other part")
    func parts() {
        let rule = Rule(
            id: "big", triggers: [Trigger(buttons: [.any], events: [.click], parts: [.big])],
            steps: [.say("big")])
        var talk = House.talk(rule, .on(.click, of: .any, id: "all", do: .say("all")))
        #expect(talk.event(.pattern([.short]), part: .big).prefix(2) == ["started 1 big", "started 2 all"])
        #expect(talk.event(.pattern([.short]), part: .small).first == "started 3 all")
        #expect(talk.event(.pattern([.short])).first == "started 4 all")
    }

    @Test("each event starts the rule for it, and no other")
    func events() throws {
        let collect = Duration.milliseconds(100)
        let cases: [(TriggerEvent, RecognisedEvent.Kind, String)] = [
            (.down, .down, "down"), (.up, .up, "up"), (.click, .pattern([.short]), "click"),
            (.doubleClick, .pattern([.short, .short]), "double_click"),
            (.pattern([.short, .short, .short]), .pattern([.short, .short, .short]), "clicks_3"),
            (.pattern([.short, .long]), .pattern([.short, .long]), "pattern"),
            (.hold(after: nil), .hold(after: .seconds(1)), "hold"),
            (.hold(after: .seconds(3)), .hold(after: .seconds(3)), "hold"),
            (.holdRelease, .holdRelease, "hold_release"),
            (.swipe(.left), .swipe(.left), "swipe_left"),
            (.rotate(.clockwise, collect: collect), .rotation(steps: 2, collect: collect), "rotate_clockwise"),
            (
                .rotate(.counterClockwise, collect: collect), .rotation(steps: -2, collect: collect),
                "rotate_counter_clockwise"
            ),
            (.rotate(.clockwise, collect: .zero), .rotation(steps: 2, collect: .zero), "rotate_clockwise"),
        ]
        let rules = try cases.enumerated().map { place, row in
            Rule.on(row.0, id: "rule_\(place)", do: try .tell("{{ trigger.event }} {{ trigger.clicks }}"))
        }
        for (place, row) in cases.enumerated() {
            var talk = House.talk(House.set(rules))
            let clicks = row.2 == "click" ? 1 : row.2 == "double_click" ? 2 : row.2 == "clicks_3" ? 3 : 0
            #expect(talk.event(row.1) == ["started 1 rule_\(place)", "1 says \(row.2) \(clicks)", "completed 1"])
        }
    }

    @Test("a hold as long as the button's hold_after starts rules with and without a duration")
    func holds() {
        let button = DeclaredButton(name: "kitchen", hardware: .address(House.kitchen), holdAfter: .milliseconds(600))
        var talk = House.talk(
            House.set(
                [
                    .on(.hold(after: nil), of: .any, id: "plain", do: .say("hello")),
                    .on(.hold(after: .milliseconds(600)), .hold(after: nil), id: "exact", do: .say("hello")),
                    .on(.hold(after: .seconds(1)), of: .any, id: "second", do: .say("hello")),
                ], buttons: [button]))
        #expect(talk.event(.hold(after: .milliseconds(600))).prefix(2) == ["started 1 plain", "started 2 exact"])
        #expect(talk.event(.hold(after: .seconds(1))).first == "started 3 second")
        #expect(
            talk.event(.hold(after: .seconds(1)), of: House.hall).prefix(2) == ["started 4 plain", "started 5 second"])
        let vocabulary = talk.machine.index[House.kitchen]?.vocabulary
        #expect(vocabulary?.holdStages == [.milliseconds(600), .seconds(1)])
        #expect(vocabulary?.holdAfter == .milliseconds(600))
    }

    @Test("equal chords of several rules are one chord, and a chord with an unknown button is ignored")
    func chords() {
        func chord(_ id: String, _ members: [Int], _ event: ChordEvent = .down) -> Rule {
            Rule(
                id: id, triggers: [Trigger(origin: .chord(members, within: .milliseconds(300), event))],
                steps: [.say(id)])
        }
        var talk = House.talk(
            House.set(
                [
                    chord("a", [0, 1]), chord("b", [1, 0]), chord("held", [0, 1], .hold), chord("lost", [0, 3]),
                    chord("same", [0, 4]),
                ],
                buttons: House.buttons + [
                    DeclaredButton(name: "lost", hardware: .serial("BA00-A09999")),
                    DeclaredButton(name: "same", hardware: .nickname("Button 1")),
                ]))
        #expect(talk.machine.index.chords.map(\.event) == [.down, .hold])
        var (kitchen, hall) = (FakeButton(House.kitchen), FakeButton(House.hall))
        #expect(talk.tell(kitchen.down(at: talk.now)) == [])
        talk.wait(.milliseconds(100))
        #expect(talk.tell(hall.down(at: talk.now)).prefix(2) == ["started 1 a", "started 2 b"])
        #expect(talk.pass(.seconds(1)) == ["started 3 held", "3 says held", "completed 3"])
    }

    @Test("each pattern has a code of its own")
    func codes() {
        var codes: Set<PatternCode> = []
        var patterns: [[PressLength]] = [[]]
        for _ in 0..<8 { patterns += patterns.flatMap { [$0 + [.short], $0 + [.long]] } }
        for pattern in Set(patterns) { #expect(codes.insert(PatternCode(pattern)).inserted) }
        #expect(PatternCode(Array(repeating: .long, count: 99)) == PatternCode(Array(repeating: .long, count: 15)))
    }
}
