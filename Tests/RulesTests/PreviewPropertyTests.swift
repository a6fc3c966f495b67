import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

/// Random rules and presses: what is found before a press is handled is compared with what handling it does.
@Suite("What a press starts, before it is handled")
struct PreviewPropertyTests {
    /// The parts of effects that a preview has, too.
    private struct Started: Equatable {
        var recognised: [RecognisedEvent] = []
        var train = ""
        var runs: [String] = []
        /// The actions of all runs, in the order in which they are performed, each with its run.
        var actions: [String] = []

        init(_ effects: [RuleEngine.Effect], train: String) {
            self.train = train
            for effect in effects {
                switch effect {
                case .recognised(let event): recognised.append(event)
                case .started(let run, let rule, _): runs.append("\(run.rawValue) \(rule)")
                case .perform(let step, let action, _, _): actions.append("\(step.run.rawValue) \(action)")
                case .stopped, .cancel, .stepFailed, .finished, .interrupted, .store, .variableChanged, .enabledChanged,
                    .triggerModeDropped, .subscribe, .unsubscribe, .timesMissed, .log, .oversizedState, .stateFault,
                    .setTimer, .cancelTimer:
                    break
                }
            }
        }

        init(_ preview: PressPreview) {
            (recognised, train) = (preview.recognised, preview.train)
            for run in preview.runs {
                runs.append("\(run.run.rawValue) \(run.rule)")
                actions += run.actions.map { "\(run.run.rawValue) \($0)" }
            }
        }
    }

    private struct Street {
        var engine: RuleEngine
        var now = Instant(sinceBoot: .seconds(1))
        var buttons = [House.kitchen, House.hall, House.desk, House.stranger].map { FakeButton($0) }
        var unanswered: [ActionID] = []
        /// The age of the next press.
        var age = Duration.zero
        var found = 0
        var unknown = 0

        init(_ set: RuleSet) {
            engine = RuleEngine(set, state: RuleState())
            give(.buttonsChanged(House.identities))
            give(.wallClock(House.noon, isBelievable: true))
            give(.brokerChanged(isConnected: true))
            for button in buttons { engine.preparePlan(of: button.id) }
        }

        @discardableResult
        mutating func give(_ input: RuleEngine.Input) -> [RuleEngine.Effect] {
            let effects = engine.checked(input, at: now)
            for case .perform(let step, let action, _, _) in effects where action.kind != .log {
                unanswered.append(step)
            }
            return effects
        }

        mutating func pass(_ duration: Duration) {
            let end = now + duration
            while let timer = engine.timer.armed, timer <= end {
                now = max(now, timer)
                give(.timerFired)
            }
            now = end
        }

        /// Gives the engine an event of a button, after a look at what it will start.
        mutating func press(_ input: RuleEngine.Input) {
            guard case .pressed(let events) = input, var event = events.first else { return }
            event.age = age
            let preview = engine.preview(event, at: now)
            let effects = give(.pressed([event]))
            guard let preview else {
                unknown += effects.contains { if case .started = $0 { true } else { false } } ? 1 : 0
                return
            }
            found += 1
            #expect(Started(preview) == Started(effects, train: engine.savedTrain(of: event.button)), "\(event)")
        }

        mutating func happen(_ random: inout SeededGenerator) throws {
            pass(.milliseconds(Int.random(in: 0...900, using: &random)))
            let place = Int.random(in: buttons.indices, using: &random)
            age = .milliseconds(max(0, Int.random(in: -150...50, using: &random)))
            switch Int.random(in: 0..<32, using: &random) {
            case 0..<7: press(buttons[place].down(at: now))
            case 7..<14: press(buttons[place].up(at: now))
            case 14..<16: press(buttons[place].clickTimeout(at: now))
            case 16: press(buttons[place].hold(at: now))
            case 17..<22:
                guard let step = unanswered.indices.randomElement(using: &random) else { break }
                give(.actionFinished(unanswered.remove(at: step), .completed(nil)))
            case 22: give(.message(topicName: "sensor", payload: Array(#"{"lux": 70}"#.utf8)))
            case 23: give(.requested(.setVariable("volume", .integer(Int64.random(in: 0...40, using: &random)))))
            case 24: give(.requested(.setEnabled(rule: "rule_0", Bool.random(using: &random))))
            case 25: give(.brokerChanged(isConnected: Int.random(in: 0..<12, using: &random) > 0))
            case 26: give(.linkChanged(buttons[place].id, isConnected: Bool.random(using: &random)))
            case 27:
                var identities = Array(House.identities.shuffled(using: &random).prefix(3))
                identities[0].serial = "BA00-B0000\(Int.random(in: 1...2, using: &random))"
                give(.buttonsChanged(identities))
            case 28:
                var set = engine.set
                set.rules.shuffle(using: &random)
                set.buttons[0].name = Bool.random(using: &random) ? "kitchen" : "cooker"
                give(.reloaded(set))
            case 29: give(.given(.recognised(RandomHouse.recognised(&random, at: now))))
            case 30:
                let mode = TriggerMode.allCases.randomElement(using: &random)
                give(.requested(.setTriggerMode(buttons[place].id, mode)))
            default:
                give(.buttonsChanged(House.identities))
                give(.brokerChanged(isConnected: true))
                for button in buttons { engine.preparePlan(of: button.id) }
            }
        }
    }

    @Test("a press whose up is lost stays open when its button's train ends", arguments: TriggerMode.allCases)
    func lostUp(mode: TriggerMode) {
        var street = Street(House.set([]))
        street.give(.requested(.setTriggerMode(House.kitchen, mode)))
        for _ in 0..<2 {
            street.press(street.buttons[0].down(at: street.now))
            street.pass(.milliseconds(50))
            street.press(street.buttons[0].clickTimeout(at: street.now))
            street.press(street.buttons[0].down(at: street.now))
            street.pass(.milliseconds(50))
            street.press(street.buttons[0].clickTimeout(at: street.now))
            street.press(street.buttons[0].up(at: street.now))
        }
        #expect(street.engine.problems() == [])
    }

    @Test("a preview has exactly the events, runs and actions of handling the press", arguments: UInt64(0)..<20)
    func previews(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (found, unknown) = (0, 0)
        for _ in 0..<20 {
            var street = Street(try RandomHouse.pressSet(&random))
            for _ in 0..<150 { try street.happen(&random) }
            found += street.found
            unknown += street.unknown
        }
        // A preview that never finds anything would agree with everything.
        #expect(found > 20 && unknown > 0, "\(found) presses were previewed, \(unknown) were not")
    }
}
