import ButtonModel
import Expressions
import Gestures
import RuleLoader
import Rules
import YAMLFiles

extension FuzzTarget {
    /// Arbitrary events of buttons, broker, programs, users and restarts: a run starts once, acts only before its end,
    /// and ends once, and no timer fires for ever. If the octets begin with `v`, they begin with a rules file, which
    /// ends at a zero octet.
    static let engine = FuzzTarget(name: "engine") { octets throws(BrokenPromise) in
        var script = octets[...]
        var sets = EngineStory.sets
        if octets.first == UInt8(ascii: "v") {
            let text = octets.prefix { $0 != 0 }
            script = octets.dropFirst(text.count + 1)
            let file = SourceFile(name: "rules.yaml", text: Array(text))
            guard let set = FileLoader.rules(file, in: LoadInputs()).value else { return }
            sets[0] = set
        }
        var story = EngineStory(sets)
        try story.tell(FuzzInput(Array(script)))
    }
}

/// An engine, and its effects so far.
private struct EngineStory {
    private let sets: [RuleSet]
    private var engine: RuleEngine
    private var now = Instant(sinceBoot: .seconds(1000))
    private var timer: Instant?
    private var kept = RuleState()
    private var nextRun: UInt64 = 1
    /// Runs in progress, and runs that ended in this process or an earlier one.
    private var open: Set<RunID> = []
    private var ended: Set<RunID> = []
    private var unanswered: [ActionID] = []
    private var performed: Set<ActionID> = []
    /// The total number of fired timers: rules can set one every 20 ms.
    private var firings = 0

    init(_ sets: [RuleSet]) {
        self.sets = sets
        engine = RuleEngine(sets[0])
    }

    mutating func tell(_ script: FuzzInput) throws(BrokenPromise) {
        var script = script
        try promise("the house has rules", sets.allSatisfy { !$0.rules.isEmpty || !$0.fingerprint.isEmpty })
        try boot()
        for _ in 0..<200 {
            guard let kind = script.step() else { break }
            try take(kind, &script)
        }
        try give(.stop)
        let resuming = Set(kept.waitingRuns.map(\.run))
        try promise("at the end each run has ended or is stored", open == resuming)
        try promise("a stopped engine has no effects", engine.handle(.timerFired, at: now).isEmpty)
    }

    private mutating func boot() throws(BrokenPromise) {
        try give(.buttonsChanged(EngineStory.identities))
        try give(.wallClock(EngineStory.clock + (now - Instant(sinceBoot: .seconds(1000))), isBelievable: true))
        try give(.brokerChanged(isConnected: true))
    }

    private mutating func take(_ kind: UInt8, _ script: inout FuzzInput) throws(BrokenPromise) {
        let button = EngineStory.identities[Int(kind >> 5) % EngineStory.identities.count].id
        switch kind & 31 {
        case 0...7: try pass(script.pause())
        case 8...13: try give(.pressed([event(of: button, &script)]))
        case 14: try give(.pressed([event(of: button, &script), event(of: button, &script)]))
        case 15:
            let steps = Int(Int8(bitPattern: script.octet()))
            let age = Duration.milliseconds(script.octet())
            try give(
                .moved(
                    ButtonMovement(
                        button: button, part: .dial, steps: steps == -128 ? .min : steps, wasQueued: age > .zero,
                        age: age)))
        case 16: try give(.linkChanged(button, isConnected: script.octet() & 1 == 1))
        case 17: try give(script.octet() & 1 == 1 ? .batteryLow(button) : .battery(button, Int64(script.octet())))
        case 18: try give(.brokerChanged(isConnected: script.octet() & 1 == 1))
        case 19:
            let topicNames = engine.subscriptions
            let place = Int(script.octet())
            let payload = script.chunk()
            guard !topicNames.isEmpty else { return }
            try give(.message(topicName: topicNames[place % topicNames.count], payload: payload))
        case 20, 21, 22: try answer(script.octet())
        case 23: try give(.timerFired)
        case 24: try give(.reloaded(sets[Int(script.octet()) % sets.count]))
        case 25: try ask(script.octet(), script.octet(), of: button)
        case 26: try give(.given(.recognised(recognised(button, &script))))
        case 27: try restart(saysStop: script.octet() & 1 == 1, afterwards: script.pause())
        case 28:
            let minutes = Duration.seconds(60 * (Int64(script.octet()) - 128))
            try give(.wallClock(EngineStory.clock + minutes, isBelievable: script.octet() & 3 != 0))
        case 29:
            let octet = script.octet()
            // Some of the added ones may be known already.
            try give(
                octet & 4 == 0
                    ? .buttonsChanged(Array(EngineStory.identities.prefix(Int(octet & 3))))
                    : .buttonsAdded(Array(EngineStory.identities.suffix(Int(octet & 3)))))
        case 30:
            switch script.octet() & 3 {
            case 2: try give(.linkTimedOut(button))
            case 3: try give(.rebooted(button))
            case let octet: try give(.given(.linkChanged(button, isConnected: octet == 1)))
            }
        default: try pass(.seconds(Int64(script.octet()) * 60))
        }
        let saved = engine.savedTrain(of: button)
        var recogniser = GestureRecogniser()
        recogniser.restore(button, saved, at: now)
        try promise("a saved train is brought back", saved.isEmpty == recogniser.saved(button).isEmpty)
    }

    // MARK: Inputs

    private func event(of button: ButtonID, _ script: inout FuzzInput) -> ButtonEvent {
        let steps: [PressStep] = [
            .down, .up(.open), .up(.click), .up(.doubleClick), .up(.afterHold), .up(.afterHoldClick),
            .up(.afterHoldDoubleClick), .clickTimeout, .hold(ofSecondPress: false), .hold(ofSecondPress: true),
        ]
        let flags = script.octet()
        let counter = UInt32(script.octet())
        let ticks = UInt64(script.octet())
        let age = script.octet()
        let parts: [ButtonPart?] = [nil, .big, .small, .push]
        return ButtonEvent(
            button: button, bootID: flags & 16 == 0 ? 1 : 2, counter: counter == 255 ? .max : counter,
            step: steps[Int(flags & 15) % steps.count], ticks: ticks == 255 ? .max : ticks * 4096,
            wasQueued: age > 0, wasQueuedLast: flags & 32 != 0,
            age: age == 255 ? .seconds(UInt32.max) : .milliseconds(Int64(age) * 50), part: parts[Int(flags >> 6)])
    }

    private func recognised(_ button: ButtonID, _ script: inout FuzzInput) -> RecognisedEvent {
        let whats: [RecognisedEvent.Kind] = [
            .down, .up, .pattern([.short]), .pattern([.short, .short]), .pattern([.short, .short, .short]),
            .pattern([.short, .long]), .hold(after: .seconds(1)), .hold(after: .seconds(2)), .holdRelease, .chord(0),
            .chord(-1), .swipe(.left), .rotation(steps: 3, collect: .milliseconds(100)),
            .rotation(steps: -3, collect: .milliseconds(100)),
        ]
        let what = whats[Int(script.octet()) % whats.count]
        let press = UInt64(script.octet())
        let age = Duration.milliseconds(Int64(script.octet()) * 50)
        return RecognisedEvent(
            button: button, kind: what, presses: press...(press + 1), wasQueued: age > .zero, age: age, at: now - age)
    }

    private mutating func answer(_ octet: UInt8) throws(BrokenPromise) {
        guard !unanswered.isEmpty else { return }
        let step = unanswered[Int(octet >> 3) % unanswered.count]
        switch octet & 7 {
        case 0, 1: return try give(.handedOver(step))
        case 2, 3: try give(.actionFinished(step, .failed(code: "R822", message: "exit status 1")))
        case 4:
            var facts = ResultFacts()
            facts.status = 503
            try give(.actionFinished(step, .completed(facts)))
        default: try give(.actionFinished(step, .completed()))
        }
        unanswered.removeAll { $0 == step }
        // A repeated answer has no effect.
        let before = performed.count
        try give(.actionFinished(step, .completed()))
        try promise("the second answer does nothing", performed.count == before)
    }

    private mutating func ask(_ what: UInt8, _ place: UInt8, of button: ButtonID) throws(BrokenPromise) {
        let rules = engine.set.rules
        let variables = engine.set.variables
        let modes: [TriggerMode?] = [nil] + TriggerMode.allCases
        switch what & 3 {
        case 0 where !rules.isEmpty:
            try give(
                .requested(
                    .run(
                        rule: rules[Int(place) % rules.count].id, ignoringConditions: what & 4 == 0,
                        isDryRun: what & 8 == 0)))
        case 1 where !rules.isEmpty:
            try give(.requested(.setEnabled(rule: rules[Int(place) % rules.count].id, what & 4 == 0)))
        case 2 where !variables.isEmpty:
            try give(.requested(.setVariable(variables[Int(place) % variables.count].name, .integer(Int64(what)))))
        default: try give(.requested(.setTriggerMode(button, modes[Int(place) % modes.count])))
        }
    }

    private mutating func restart(saysStop: Bool, afterwards pause: Duration) throws(BrokenPromise) {
        if saysStop { try give(.stop) }
        let resuming = Set(kept.waitingRuns.map(\.run))
        if saysStop { try promise("at a stop each run has ended or is stored", open == resuming) }
        ended.formUnion(open.subtracting(resuming))
        open = resuming
        unanswered = []
        timer = nil
        let trains = EngineStory.identities.map { ($0.id, saysStop ? "" : engine.savedTrain(of: $0.id)) }
        now = now + pause
        engine = RuleEngine(sets[0], state: kept, nextRun: RunID(rawValue: nextRun))
        for (button, train) in trains { engine.restoreTrain(of: button, train, at: now) }
        try boot()
    }

    /// Fires each timer at its time. A timer that is due again and again at one instant would never end.
    private mutating func pass(_ pause: Duration) throws(BrokenPromise) {
        let end = now + pause
        var firingsNow = 0
        while let due = timer, due <= end, firings < 2000 {
            firings += 1
            firingsNow = due > now ? 0 : firingsNow + 1
            try promise("a timer is not due for ever", firingsNow < 100)
            now = max(now, due)
            timer = nil
            try give(.timerFired)
        }
        now = max(now, end)
    }

    // MARK: Effects

    private mutating func give(_ input: RuleEngine.Input) throws(BrokenPromise) {
        if input == .timerFired { timer = nil }
        for effect in engine.handle(input, at: now) { try read(effect) }
        #if DEBUG
            let problems = engine.problems()
            try promise("the engine's invariants hold: \(problems)", problems.isEmpty)
        #endif
    }

    private mutating func read(_ effect: RuleEngine.Effect) throws(BrokenPromise) {
        switch effect {
        case .started(let run, _, _):
            try promise("a run has a number of its own", !open.contains(run) && !ended.contains(run))
            open.insert(run)
            nextRun = max(nextRun, run.rawValue + 1)
        case .perform(let step, let action, _, _):
            try promise("a run acts while it goes on", open.contains(step.run))
            try promise("an attempt has a number of its own", performed.insert(step).inserted || step.index < 1 << 20)
            if action.kind != .log { unanswered.append(step) }
        case .cancel(let step):
            try promise("only a step that was performed is cancelled", unanswered.contains(step))
            unanswered.removeAll { $0 == step }
        case .stepFailed(let run, _, _, _, _, _, _): try promise("a run fails while it goes on", open.contains(run))
        case .finished(let run, _, _), .interrupted(let run, _, _):
            try promise("a run ends once", open.remove(run) != nil)
            try promise("a run that has ended is not stored", !kept.waitingRuns.contains { $0.run == run })
            ended.insert(run)
            unanswered.removeAll { $0.run == run }
        case .store(let change): kept.apply(change)
        case .setTimer(let deadline): timer = deadline
        case .cancelTimer: timer = nil
        case .recognised, .stopped, .variableChanged, .enabledChanged, .triggerModeDropped, .subscribe, .unsubscribe,
            .timesMissed, .log, .oversizedState, .stateFault:
            break
        }
    }

    // MARK: The house

    private static let clock = UTCTime(milliseconds: 1_795_000_000_000)

    private static let identities = ["01", "02", "03"].compactMap { digits in
        BluetoothAddress("80:E4:DA:00:00:\(digits)").map {
            ButtonIdentity(address: $0, uuid: "", serial: "", nickname: "", firmwareVersion: 11)
        }
    }

    /// In the second set the first rule is different.
    static let sets = [
        house, house.replacing("delay: 3s", with: "delay: 4s").replacing("mode: restart", with: "mode: parallel"),
    ].map {
        FileLoader.rules(SourceFile(name: "rules.yaml", text: Array("version: 1\n\($0)".utf8)), in: LoadInputs())
            .value ?? RuleSet()
    }

    private static let house = """
        defaults: {queued: {max_age: 3s, keep: last}}
        buttons:
          a: {address: "80:E4:DA:00:00:01", hold_after: 800ms}
          b: {address: "80:E4:DA:00:00:02", queued: accept}
          d: {address: "80:E4:DA:00:00:03", model: twist}
        states:
          lux: {topic: lux, type: number, max_age: 30s}
          door: {topic: door, value: /door, default: closed}
        variables:
          level: {initial: 30, min: 0, max: 100, reset: "12:00:20"}
          up: true
          scene: {initial: day, values: [day, night]}
        scripts:
          say:
            inputs: {text: {type: string, default: hello}}
            actions:
              - cycle: {steps: [{log: "{{ inputs.text }}"}, {delay: 100ms}]}
        rules:
          - id: one
            triggers: [{button: a, event: click}, {button: b, event: [click, double_click]}]
            conditions: (states.lux ?? 1) < 50
            mode: restart
            on_restart: resume
            actions:
              - publish: {topic: "out/{{ trigger.button }}", json: {level: "{{ variables.level }}"}, qos: 1}
                retry: {count: 2, delay: 200ms}
                continue_on_error: true
              - delay: 3s
              - wait: {until: "states.door == 'open'", timeout: 10s}
                else: [{delay: 2s}, {log: closed}]
              - set: {level: "{{ variables.level + 7 }}", scene: "{{ next(variables.scene) }}"}
          - id: two
            triggers: {button: a, event: hold}
            actions:
              - repeat:
                  while: held
                  every: 200ms
                  actions: {set: {level: "{{ variables.level - 1 }}"}}
              - wait_for: [{button: b, event: click}, {chord: [a, b]}, {at: "12:00:05"}, {state: door, for: 1s}]
                timeout: 3s
                claim: true
                save_as: second
                then: {log: "{{ results.second.button }}"}
                else: {delay: 1s}
          - id: three
            triggers: {button: [a, b], clicks: 3}
            mode: queued
            max: 2
            scope: button
            actions:
              - run: [true, --, "{{ trigger.button }}"]
                timeout: 2s
                save_as: it
              - choose:
                  - if: results.it.ok
                    then: {disable: four}
                default: {enable: four}
            on_error: {script: say, with: {text: "{{ error.message }}"}}
          - id: four
            triggers: [{button: any, event: [down, up, connected, disconnected, battery_low]}, {button: a, event: hold, for: 2s}]
            cooldown: 1s
            rate_limit: 5/1m
            mode: parallel
            max: 3
            actions:
              - script: say
              - http: {url: "http://web/{{ trigger.event }}"}
                timeout: 1s
          - id: five
            triggers: {button: d, event: [rotate_clockwise, rotate_counter_clockwise]}
            mode: queued
            actions:
              - set: {level: "{{ variables.level + trigger.steps }}"}
              - delay: 500ms
          - id: six
            triggers: {chord: [a, b]}
            on_restart: resume
            actions: {wait: {until: "broker.connected and now.minute >= 0 and rules.one.running == 0", timeout: 1m}}
          - id: seven
            triggers: [{button: a, pattern: [short, long]}, {button: b, event: hold_release}]
            actions:
              - repeat: {count: 3, every: 50ms, actions: {log: !literal "{{"}}
              - stop: done
          - id: eight
            fallback: true
            triggers: {button: any, event: click}
            dry_run: true
            actions: [{delay: 1s}, {log: nothing}]

        """
}
