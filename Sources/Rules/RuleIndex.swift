import ButtonModel

/// Which rules an event of a button concerns: built when the buttons change, so that an event costs a look-up
/// however many rules there are.
struct RuleIndex: Sendable {
    /// What the rules have to do with one button.
    struct Entry: Sendable {
        var declared: DeclaredButton?
        /// The rules that wait for each event, by their place in the file.
        var rules: [TriggerEvent: [Int]] = [:]
        var gestures: Set<Gesture> = []

        func rules(for event: TriggerEvent) -> [Int] { rules[event] ?? [] }

        /// A rule that waits for the event in several ways stands there once.
        fileprivate mutating func add(_ rule: Int, for events: [TriggerEvent]) {
            for event in events {
                if rules[event]?.last != rule { rules[event, default: []].append(rule) }
                if case .gesture(let gesture) = event { gestures.insert(gesture) }
            }
        }
    }

    private let set: RuleSet
    private var entries: [ButtonID: Entry] = [:]
    /// For buttons that only rules for `any` concern.
    private let anyButton: Entry
    private let rulesForGestures: Set<Int>

    init(_ set: RuleSet) {
        self.set = set
        var anyButton = Entry()
        var rulesForGestures: Set<Int> = []
        for (number, rule) in set.rules.enumerated() {
            for trigger in rule.triggers {
                if trigger.buttons.contains(.any) { anyButton.add(number, for: trigger.events) }
                let hasGesture = trigger.events.contains { if case .gesture = $0 { true } else { false } }
                if hasGesture { rulesForGestures.insert(number) }
            }
        }
        self.anyButton = anyButton
        self.rulesForGestures = rulesForGestures
    }

    subscript(button: ButtonID) -> Entry { entries[button] ?? anyButton }

    func waitsForGestures(_ rule: Int) -> Bool { rulesForGestures.contains(rule) }

    /// Finds out which buttons the names and descriptions in the rules mean now.
    mutating func resolve(against buttons: [ButtonIdentity]) {
        let hardware = HardwareIndex(buttons)
        var declared: [ButtonID: DeclaredButton] = [:]
        var buttonsNamed: [String: [ButtonID]] = [:]
        for button in set.buttons {
            let found = hardware[button.hardware]
            buttonsNamed[button.name] = found
            for id in found where declared[id] == nil { declared[id] = button }
        }
        entries = declared.mapValues { Entry(declared: $0) }
        var concerned = Set(declared.keys)
        for rule in set.rules {
            for case .hardware(let wanted) in rule.triggers.lazy.flatMap(\.buttons) {
                concerned.formUnion(hardware[wanted])
            }
        }
        for (number, rule) in set.rules.enumerated() {
            for trigger in rule.triggers {
                for button in trigger.buttons {
                    let meant: [ButtonID] =
                        switch button {
                        case .any: Array(concerned)
                        case .named(let name): buttonsNamed[name] ?? []
                        case .hardware(let wanted): hardware[wanted]
                        }
                    for id in meant { entries[id, default: Entry()].add(number, for: trigger.events) }
                }
            }
        }
    }
}

/// The existing buttons by each of the ways to describe one, so that ten thousand descriptions are found quickly.
private struct HardwareIndex {
    private var buttons: [DeclaredButton.Hardware: [ButtonID]] = [:]

    init(_ identities: [ButtonIdentity]) {
        for identity in identities {
            for description in [
                DeclaredButton.Hardware.uuid(identity.uuid), .serial(identity.serial), .address(identity.id),
                .nickname(identity.nickname),
            ] {
                buttons[description, default: []].append(identity.id)
            }
        }
    }

    subscript(hardware: DeclaredButton.Hardware) -> [ButtonID] { buttons[hardware] ?? [] }
}
