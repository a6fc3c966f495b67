import ButtonModel
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Buttons that are added to those that are known")
struct AddedButtonsTests {
    /// The buttons of the house and others, some of which have the same nickname.
    private static let identities =
        House.identities
        + (0..<4).map { number in
            ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0010 + UInt64(number)),
                uuid: String(repeating: String(number + 4), count: 32), serial: "BA00-A0001\(number)", nickname: "Same",
                firmwareVersion: 10, model: number == 1 ? .twist : .flic2)
        }

    /// A random set, in which the first declaration applies to several buttons.
    private static func set(_ random: inout SeededGenerator) throws -> RuleSet {
        var set = try Bool.random(using: &random) ? RandomHouse.set(&random) : RandomHouse.pressSet(&random)
        set.buttons[0].hardware = .nickname("Same")
        if Bool.random(using: &random) { set.buttons[1].hardware = .nickname("Same") }
        return set
    }

    /// Two engines with the same rules. One is told of new buttons only, the other one of all known buttons each time.
    private struct Pair {
        var some: RuleEngine
        var all: RuleEngine
        var now = Instant(sinceBoot: .seconds(1))
        private(set) var known: [ButtonIdentity] = []
        private var waiting: [ButtonIdentity]
        private var unanswered: [ActionID] = []

        init(_ set: RuleSet, _ random: inout SeededGenerator) {
            (some, all) = (RuleEngine(set), RuleEngine(set))
            waiting = AddedButtonsTests.identities.shuffled(using: &random)
            give(.wallClock(House.noon, isBelievable: true))
            give(.brokerChanged(isConnected: true))
        }

        mutating func give(_ input: RuleEngine.Input) { give(input, input) }

        private mutating func give(_ input: RuleEngine.Input, _ other: RuleEngine.Input) {
            let effects = some.checked(input, at: now)
            let others = all.checked(other, at: now)
            #expect(effects == others)
            for case .perform(let step, _, _, _) in effects { unanswered.append(step) }
        }

        mutating func addButtons(_ random: inout SeededGenerator) {
            let new = Array(waiting.suffix(Int.random(in: 1...3, using: &random)))
            waiting.removeLast(new.count)
            known += new
            give(.buttonsAdded(new), .buttonsChanged(known))
        }

        mutating func pass(_ duration: Duration) {
            let end = now + duration
            while let timer = some.timer.armed, timer <= end {
                now = max(now, timer)
                give(.timerFired)
            }
            now = end
        }

        mutating func act(on button: ButtonID, _ random: inout SeededGenerator) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: give(.linkChanged(button, isConnected: Bool.random(using: &random)))
            case 1: give(.battery(button, Int64.random(in: 0...100, using: &random)))
            case 2: give(.requested(.setTriggerMode(button, TriggerMode.allCases.randomElement(using: &random))))
            case 3:
                some.preparePlan(of: button)
                all.preparePlan(of: button)
            case 4:
                let steps = unanswered
                unanswered = []
                for step in steps { give(.actionFinished(step, .completed(nil))) }
            default:
                let ticks = UInt64(now.nanoseconds) / 30_518
                let step: PressStep = Bool.random(using: &random) ? .down : .up(.open)
                give(.pressed([ButtonEvent(button: button, bootID: 1, counter: 0, step: step, ticks: ticks)]))
            }
        }
    }

    @Test(
        "an engine that is told of new buttons only does the same as one that is told of all each time",
        arguments: UInt64(0)..<120)
    func sameAsAll(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let set = try Self.set(&random)
        var pair = Pair(set, &random)
        for _ in 0..<150 {
            pair.pass(.microseconds(Int.random(in: 0...900_000, using: &random)))
            if pair.known.count < Self.identities.count, Int.random(in: 0..<8, using: &random) == 0 {
                pair.addButtons(&random)
            }
            if let button = pair.known.randomElement(using: &random)?.id { pair.act(on: button, &random) }
        }
        for (index, declaration) in set.buttons.enumerated() {
            #expect(pair.some.button(named: declaration.name) == pair.all.button(named: declaration.name))
            #expect(pair.some.world.buttons[index] == pair.all.world.buttons[index])
        }
        for identity in pair.known {
            #expect(pair.some.declaredName(of: identity.id) == pair.all.declaredName(of: identity.id))
            #expect(pair.some.clickTiming(of: identity.id) == pair.all.clickTiming(of: identity.id))
        }
        #expect(pair.some.modelContradictions == pair.all.modelContradictions)
    }

    @Test("a declaration that applies to several buttons is the one with the lowest id, in whatever order they come")
    func lowest() {
        let button = DeclaredButton(name: "lamp", hardware: .nickname("Same"))
        let same = Self.identities.filter { $0.nickname == "Same" }
        for order in [same, same.reversed()] {
            var talk = Transcript(RuleEngine(House.set([], buttons: [button])))
            for identity in order { talk.given(.buttonsAdded([identity])) }
            #expect(talk.machine.button(named: "lamp") == same[0].id)
            #expect(talk.machine.button(named: "Same") == same[0].id)
        }
    }

    @Test("a button that is added although it is known has its new identity")
    func known() {
        var talk = House.talk(
            House.set(
                [.on(.click, do: .say("hello"))], buttons: [DeclaredButton(name: "lamp", hardware: .nickname("Lamp"))]))
        #expect(talk.click() == [])
        var identity = House.identities[0]
        identity.nickname = "Lamp"
        talk.given(.buttonsAdded([identity]))
        #expect(talk.click().first == "started 1 rule")
    }

    #if DEBUG
        @Test("only new buttons are resolved")
        func work() {
            var talk = House.talk(.on(.click, do: .say("hello")))
            let before = talk.machine.resolvedCount
            talk.given(.buttonsAdded(Self.identities.suffix(2)))
            #expect(talk.machine.resolvedCount == before + 2)
        }
    #endif
}
