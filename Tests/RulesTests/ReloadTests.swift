import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Reload of rules")
struct ReloadTests {
    @Test("an unchanged rule keeps its run, cooldown, counters and traces at any place in the file")
    func unchanged() {
        let rule = Rule.on(.click, id: "slow", cooldown: .seconds(60), do: .work, .say("done"))
        var talk = House.talk(.on(.up, id: "before", do: .say("up")), rule)
        talk.given(.requested(.run(rule: "slow", ignoringConditions: false, isDryRun: true)))
        #expect(talk.click().first == "started 2 slow")
        talk.when(.reloaded(House.set([rule, .on(.down, id: "other", do: .say("down"))])), expect: .nothing)
        #expect(talk.click() == ["stopped slow, dropped_cooldown: for another 1m"])
        #expect(talk.done(2) == ["2 says done", "completed 2"])
        #expect(talk.machine.statistics(of: "slow")?.counts == [.started: 2, .completed: 2, .droppedCooldown: 1])
        #expect(talk.machine.traces(of: "slow").map(\.run.rawValue) == [1, 2])
        #expect(talk.machine.statistics(of: "before") == nil)
        #expect(talk.machine.statistics(of: "other")?.counts == [:])
        talk.wait(.seconds(60))
        #expect(talk.click().first == "started 3 slow")
    }

    @Test("runs of changed and removed rules are cancelled, and queued runs as well")
    func changed() {
        var talk = House.talk(
            .on(.click, id: "gone", do: .work), .on(.click, id: "changed", mode: .queued, max: 3, do: .work))
        talk.given(.event(.pattern([.short]), at: talk.now))
        #expect(talk.click() == ["stopped gone, dropped_busy: single: a run is in progress", "started 3 changed"])
        #expect(
            talk.tell(.reloaded(House.set([.on(.click, id: "changed", do: .say("new"))]))) == [
                "cancelled 3", "cancel 1", "cancelled 1", "cancel 2", "cancelled 2",
            ])
        #expect(talk.click() == ["started 4 changed", "4 says new", "completed 4"])
    }

    @Test("the cooldown of a changed rule ends, also in the store")
    func cooldown() {
        var talk = House.talk(.on(.click, cooldown: .seconds(60), do: .say("old")))
        talk.given(.event(.pattern([.short]), at: talk.now))
        #expect(
            talk.tell(.reloaded(House.set([.on(.click, cooldown: .seconds(60), do: .say("new"))]))) == [
                "keep cooldown of rule until 2026-01-15T12:00:00.000Z"
            ])
        #expect(talk.click().first == "started 2 rule")
    }

    @Test("a reload subscribes only to new topics and to topics with a new state, and unsubscribes from removed ones")
    func subscriptions() {
        var talk = House.talk(House.set([]))
        var lux = House.states[0]
        lux.name = "brightness"
        let humidity = DeclaredState(name: "humidity", topicName: "sensor", pointer: "/humidity", type: .integer)
        let window = DeclaredState(name: "window", topicName: "window")
        #expect(
            talk.tell(.reloaded(House.set([], states: [lux, window]))) == ["unsubscribe door", "subscribe window"])
        #expect(talk.tell(.reloaded(House.set([], states: [lux, window, humidity]))) == ["subscribe sensor"])
        #expect(talk.tell(.reloaded(House.set([], states: [lux, window, humidity]))) == [])
    }

    @Test("a state keeps its value and age if its topic, pointer and type are the same")
    func states() {
        var lux = House.states[0]
        lux.maximumAge = .seconds(60)
        var talk = House.talk(House.set([], states: [lux]))
        talk.given(.message(topicName: "sensor", payload: Array(#"{"lux": 7}"#.utf8)))
        talk.wait(.seconds(50))
        lux.name = "brightness"
        lux.maximumAge = .seconds(55)
        talk.when(
            .reloaded(House.set([], states: [House.states[1], lux])), expect: .subscribe(["door"]),
            .setTimer(talk.now + .seconds(5)))
        #expect(talk.machine.value(ofState: "brightness") == .integer(7))
        lux.type = .number
        talk.given(.reloaded(House.set([], states: [lux])))
        #expect(talk.machine.value(ofState: "brightness") == .integer(30))
    }

    @Test("a run that waits in a delay goes on after a reload that moves its rule")
    func waiting() throws {
        var talk = House.talk(.on(.click, do: .pause("10s"), .say("open")))
        talk.given(.event(.pattern([.short]), at: talk.now))
        talk.given(
            .reloaded(House.set([.on(.down, id: "new", do: .work), .on(.click, do: .pause("10s"), .say("open"))])))
        #expect(talk.pass(.seconds(10)) == ["1 says open", "completed 1"])
    }

    @Test("cycles of changed rules begin again at the first entry")
    func cycles() {
        func rule(_ id: String, _ text: String) -> Rule {
            .on(.click, id: id, do: Step(.cycle([[.say(text)], [.say("two")], [.say("three")]], resetAfter: nil)))
        }
        var talk = House.talk(rule("same", "one"), rule("changed", "one"))
        #expect(talk.click().contains("keep same/actions[0].cycle 1"))
        #expect(
            talk.tell(.reloaded(House.set([rule("changed", "uno"), rule("same", "one")]))) == [
                "keep changed/actions[0].cycle nothing"
            ])
        #expect(talk.click().filter { $0.contains("says") } == ["3 says uno", "4 says two"])
    }

    @Test("a rule enabled or disabled at run time stays so until its enabled value in the file changes")
    func enabled() {
        var talk = House.talk(.on(.click, do: .say("hello")))
        #expect(
            talk.tell(.requested(.setEnabled(rule: "rule", false))) == ["keep rule disabled", "rule disabled"])
        #expect(talk.tell(.requested(.setEnabled(rule: "rule", false))) == [])
        talk.when(.reloaded(House.set([.on(.click, do: .say("changed"))])), expect: .nothing)
        #expect(talk.machine.isEnabled(rule: "rule") == false)
        talk.when(
            .reloaded(House.set([.on(.click, isEnabled: false, do: .say("changed"))])),
            expect: .store(.enabled(rule: "rule", nil)))
        #expect(
            talk.tell(.reloaded(House.set([.on(.click, do: .say("changed"))]))) == ["rule enabled"])
        #expect(talk.machine.isEnabled(rule: "rule") == true)
    }

    @Test("a variable that was set keeps its value over a new initial value, which is logged; others take it")
    func variables() {
        func volume(_ initial: Int64) -> [DeclaredVariable] {
            [DeclaredVariable(name: "volume", type: .integer, initial: .integer(initial), minimum: 0, maximum: 100)]
        }
        var talk = House.talk(House.set([], variables: volume(30)))
        #expect(talk.tell(.reloaded(House.set([], variables: volume(20)))) == ["volume = 20"])
        #expect(talk.tell(.requested(.setVariable("volume", .integer(500)))) == ["keep volume 100", "volume = 100"])
        #expect(
            talk.tell(.reloaded(House.set([], variables: volume(10)))) == [
                "info: variable volume keeps its value 100, though its initial value is 10 now; to change it, "
                    + "publish the new value to variables/volume/set"
            ])
        talk.given(.reloaded(House.set([], variables: [])))
        #expect(talk.tell(.reloaded(House.set([], variables: volume(10)))) == [])
        #expect(talk.machine.value(of: "volume") == .integer(100))
    }

    @Test("a variable whose value is no longer allowed is reset to its initial value, with a warning")
    func misfits() {
        var talk = House.talk(House.set([]))
        talk.given(.requested(.setVariable("scene", .string("night"))))
        let scene = DeclaredVariable(
            name: "scene", type: .string, initial: .string("day"), values: [.string("day"), .string("dusk")])
        #expect(
            talk.tell(.reloaded(House.set([], variables: [scene]))) == [
                "warning: variable scene cannot be night any more and is reset to day", "keep scene nothing",
                "scene = \"day\"",
            ])
    }

    @Test("a stored event that waits for a changed rule is dropped, and for an unchanged rule it is kept")
    func kept() {
        func rule(_ id: String, _ text: String) -> Rule {
            .on(.click, id: id, queued: .limited(maximumAge: .seconds(10), keepLast: true), do: .say(text))
        }
        var talk = House.talk(rule("a", "a"), rule("b", "b"))
        talk.given(.event(.pattern([.short]), age: .seconds(5), at: talk.now))
        #expect(
            talk.tell(.reloaded(House.set([rule("b", "b"), rule("a", "new")]))) == [
                "keep nothing for a", "stopped a, dropped_queued: its rule was changed by a reload",
            ])
        #expect(talk.pass(.seconds(1)) == ["keep nothing for b", "started 1 b", "1 says b", "completed 1"])
    }

    @Test("an undecided train of presses goes on after a reload")
    func train() {
        var talk = House.talk(.on(.click, .doubleClick, do: .say("clicked")))
        var button = FakeButton(House.kitchen)
        talk.given(button.down(at: talk.now))
        talk.wait(.milliseconds(80))
        talk.given(button.up(at: talk.now))
        talk.given(.reloaded(House.set([.on(.click, .doubleClick, id: "new", do: .say("new"))])))
        talk.wait(.milliseconds(420))
        #expect(talk.tell(button.clickTimeout(at: talk.now)) == ["started 1 new", "1 says new", "completed 1"])
    }
}
