package import ButtonModel
package import Expressions
import Gestures

// Queries. They do not change the engine, except for `restoreTrain`.
extension RuleEngine {
    /// The indices of declarations by name.
    struct Names: Sendable {
        let rules, variables, states, buttons: [String: Int]
        /// The ids and fingerprints of the rules, by index.
        let ruleIDs, ruleFingerprints: [String]

        init(_ set: RuleSet) {
            func indices(_ names: [String]) -> [String: Int] {
                Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
            }
            ruleIDs = set.rules.map(\.id)
            ruleFingerprints = set.rules.map(\.fingerprint)
            rules = indices(ruleIDs)
            variables = indices(set.variables.map(\.name))
            states = indices(set.states.map(\.name))
            buttons = indices(set.buttons.map(\.name))
        }
    }

    /// The topics of all states.
    package var subscriptions: [String] { states.topics }
    /// True if messages on this topic change states.
    package func isState(_ topicName: String) -> Bool { !states.indices(of: topicName).isEmpty }

    /// The name of the first declaration that applies to this button.
    package func declaredName(of button: ButtonID) -> String? { declaration(of: button)?.name }

    func declaration(of button: ButtonID) -> DeclaredButton? {
        guard let entryIndex = index.entryIndex(of: button), let first = index.entries[entryIndex].declared.first else {
            return nil
        }
        return set.buttons[first]
    }

    /// The button to which a declared name, uuid, serial number, address or nickname refers now; of several, that with the
    /// lowest id.
    package func button(named name: String) -> ButtonID? {
        if let declaration = names.buttons[name], let button = index.buttonByDeclaration[declaration] { return button }
        let address = BluetoothAddress(name).map { ButtonID($0) } ?? ButtonID(name)
        let criteria: [(ButtonIdentity) -> Bool] = [
            { $0.uuid == name }, { $0.serial == name }, { $0.id == address }, { $0.nickname == name },
        ]
        for criterion in criteria {
            if let id = identities.lazy.filter(criterion).map(\.id).min() { return id }
        }
        return nil
    }

    /// The policy for events that are not handled by rules, such as those published over MQTT: the button's, or else
    /// the default.
    package func queuedPolicy(of button: ButtonID) -> QueuedPolicy { declaration(of: button)?.queued ?? set.queued }

    /// The encoded state of a button's undecided press train, to be stored with its events.
    package func savedTrain(of button: ButtonID) -> String {
        recogniser.saved(button, by: world.plausibleClock.map { (instant: $0.at, time: $0.utc) })
    }

    /// True if something of the button's presses and turns is undecided: a gesture, a hold that has not ended, a turn that is
    /// collected or waits for a run of its rule, or a stored event that a rule keeps until the last one has arrived.
    package func hasUndecided(of button: ButtonID) -> Bool {
        recogniser.hasUndecided(of: button) || !kept.isEmpty(for: button) || scheduler.hasTurns(of: button)
    }

    /// The other buttons whose presses a chord has taken together with one of this button, if all are still down.
    package func partners(of button: ButtonID) -> [ButtonID] { recogniser.partners(of: button) }

    /// Restores an undecided press train. Must be called before the first event, and after the wall clock is set.
    package mutating func restoreTrain(of button: ButtonID, _ saved: String, at now: Instant) {
        recogniser.restore(button, saved, at: now, time: world.plausibleClock.map { _ in world.wallClock(at: now) })
    }

    /// The durations after which `hold` fires for rules of this button, in ascending order.
    package func holdStages(of button: ButtonID) -> [Duration] {
        (index[button]?.vocabulary ?? index.vocabularyOfOthers).holdStages.sorted()
    }

    /// The names of the events of a button that trigger a rule, including chords in which the button takes part.
    package func events(of button: ButtonID, thatTrigger rule: String) -> [String] {
        guard let ruleIndex = names.rules[rule] else { return [] }
        var found: [String] = []
        for trigger in set.rules[ruleIndex].triggers {
            switch trigger.origin {
            case .buttons(let selectors, let events, _):
                if selectors.contains(where: { index.covers($0, button) }) { found += events.map(\.name) }
            case .chord(let members, _, _):
                if members.contains(where: { index.covers(.declared($0), button) }) { found.append("chord") }
            case .times, .states: break
            }
        }
        return found.reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
    }

    /// The number of messages since the start that could not be converted to the type of a state (R830).
    package var stateFaultCount: Int { states.faultCount }

    package func isEnabled(rule: String) -> Bool? { names.rules[rule].map { world.rules[$0].isEnabled } }
    package func value(of variable: String) -> Value? { names.variables[variable].map { world.variables[$0] } }
    /// The numbers of the function `random`, for tests.
    package var draws: RandomDraws { world.draws }

    /// The value of a state in its latest message; `nil` if it is unknown, also for a state with a default.
    package func receivedValue(ofState state: String) -> Value? {
        names.states[state].flatMap { states.receivedValue(at: $0) }
    }
    package func value(ofState state: String) -> Value? { names.states[state].map { world.states[$0] } }
    package func statistics(of rule: String) -> RuleStatistics? { names.rules[rule].map { records[$0].statistics } }
    /// The latest outcome since the engine was created; `notMatched` if there is none.
    package func latestOutcome(of rule: String) -> Outcome? { names.rules[rule].map { records[$0].latest } }

    /// The newest matches of a rule that a gate stopped, at most 50, the oldest first.
    package func stoppedMatches(of rule: String) -> [StoppedMatch] { stoppedMatches[rule] }

    /// The chords of exactly these buttons, as indices for `RecognisedEvent.Kind.chord`.
    package func chords(of members: Set<ButtonID>) -> [Int] {
        index.chords.indices.filter { Set(index.chords[$0].members) == members }
    }

    /// The number of runs in progress, by the ids of their rules.
    package var runningCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for run in scheduler.runs.values { counts[set.rules[run.rule].id, default: 0] += 1 }
        return counts
    }

    /// The traces of the last twenty completed runs, followed by those in progress, each in order.
    package func traces(of rule: String) -> [RunTrace] {
        let open = names.rules[rule].map { ruleIndex in
            scheduler.runs.values.filter { $0.rule == ruleIndex }.sorted { $0.id < $1.id }.map(\.trace)
        }
        return archive.traces(of: rule) + (open ?? [])
    }
}
