package import ButtonModel

/// Everything one set of rule files says.
package struct RuleSet: Hashable, Sendable {
    package var buttons: [DeclaredButton]
    /// In document order.
    package var rules: [Rule]
    /// Values that came from `!secret` and `!env_var`: whoever shows anything of a run shows `***` in their place.
    package var confidential: Set<String>

    package init(buttons: [DeclaredButton] = [], rules: [Rule] = [], confidential: Set<String> = []) {
        self.buttons = buttons
        self.rules = rules
        self.confidential = confidential
    }
}

/// A button the rules name, and how its hardware is recognised.
package struct DeclaredButton: Hashable, Sendable {
    package enum Hardware: Hashable, Sendable {
        case uuid(String)
        case serial(String)
        case address(ButtonID)
        case nickname(String)

        package func matches(_ identity: ButtonIdentity) -> Bool {
            switch self {
            case .uuid(let uuid): uuid == identity.uuid
            case .serial(let serial): serial == identity.serial
            case .address(let id): id == identity.id
            case .nickname(let nickname): nickname == identity.nickname
            }
        }
    }

    package var name: String
    package var hardware: Hardware
    /// `nil`: `auto`, derived from the rules.
    package var triggerMode: TriggerMode?
    /// `nil`: the default.
    package var queued: QueuedPolicy?

    package init(name: String, hardware: Hardware, triggerMode: TriggerMode? = nil, queued: QueuedPolicy? = nil) {
        self.name = name
        self.hardware = hardware
        self.triggerMode = triggerMode
        self.queued = queued
    }
}

/// What a rule may wait for on a button.
package enum TriggerEvent: Hashable, Sendable {
    case gesture(Gesture)
    case raw(RawEvent)

    /// `click`, `down`, …
    package var word: String {
        switch self {
        case .gesture(let gesture): gesture.rawValue
        case .raw(let event): event.rawValue
        }
    }
}

/// What happens to events the button had stored while out of reach.
package enum QueuedPolicy: Hashable, Sendable {
    case drop
    case accept
    /// Up to that age, inclusive; all of them, or only the last of one reconnection that matches the rule.
    case limited(maximumAge: Duration, keepLast: Bool)

    package static let standard = QueuedPolicy.limited(maximumAge: .seconds(3), keepLast: false)

    /// Whether a gesture of this age passes. Live gestures always do.
    package func admits(queued: Bool, age: Duration) -> Bool {
        guard queued else { return true }
        switch self {
        case .drop: return false
        case .accept: return true
        case .limited(let maximumAge, _): return age <= maximumAge
        }
    }
}

/// Which buttons a trigger means.
package enum ButtonSelector: Hashable, Sendable {
    case any
    /// A name of `RuleSet.buttons`.
    case named(String)
    case hardware(DeclaredButton.Hardware)
}

/// What starts a rule: any of the events on any of the buttons.
package struct Trigger: Hashable, Sendable {
    package var buttons: [ButtonSelector]
    package var events: [TriggerEvent]
    /// `trigger.id`.
    package var id: String?

    package init(buttons: [ButtonSelector], events: [TriggerEvent], id: String? = nil) {
        self.buttons = buttons
        self.events = events
        self.id = id
    }
}

/// What happens, and when.
package struct Rule: Hashable, Sendable {
    /// Unique in a set.
    package var id: String
    /// What people call it.
    package var alias: String?
    package var triggers: [Trigger]
    /// `nil`: the button's, then the default.
    package var queued: QueuedPolicy?
    package var actions: [Action]

    package init(id: String, alias: String? = nil, triggers: [Trigger], queued: QueuedPolicy? = nil, actions: [Action])
    {
        self.id = id
        self.alias = alias
        self.triggers = triggers
        self.queued = queued
        self.actions = actions
    }
}

/// One step of a run.
package enum Action: Hashable, Sendable {
    case publish(PublishAction)
    case process(ProcessAction)
    case log(LogLevel, String)

    /// The step's key in the file: `publish`, `run`, `shell`, `log`.
    package var word: String {
        switch self {
        case .publish: "publish"
        case .process(let process): process.isShell ? "shell" : "run"
        case .log: "log"
        }
    }
}

/// How loud a `log` step is. The raw value is the word of the file.
package enum LogLevel: String, CaseIterable, Hashable, Sendable {
    case debug, info, warning, error
}

/// A message for the broker.
package struct PublishAction: Hashable, Sendable {
    /// Without wildcards, at most 65 535 octets.
    package var topicName: String
    package var payload: [UInt8]
    /// 0…2.
    package var qos: Int
    package var retain: Bool
    /// How long it may wait while the broker is away.
    package var maximumAge: Duration

    package init(
        topicName: String, payload: [UInt8], qos: Int = 0, retain: Bool = false, maximumAge: Duration = .seconds(5)
    ) {
        self.topicName = topicName
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.maximumAge = maximumAge
    }
}

/// A program to start, without a shell; a `shell` step is `/bin/sh -c SCRIPT sh ARGS…`.
package struct ProcessAction: Hashable, Sendable {
    /// At least the program. It contains a slash, or is looked up in the fixed search path.
    package var arguments: [String]
    /// Added to the fixed environment, in this order.
    package var environment: [(name: String, value: String)]
    /// `nil`: the state directory.
    package var directory: String?
    package var standardInput: [UInt8]
    package var isShell: Bool

    package init(
        arguments: [String], environment: [(name: String, value: String)] = [], directory: String? = nil,
        standardInput: [UInt8] = [], isShell: Bool = false
    ) {
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.standardInput = standardInput
        self.isShell = isShell
    }

    package static func == (left: ProcessAction, right: ProcessAction) -> Bool {
        left.arguments == right.arguments && left.directory == right.directory
            && left.standardInput == right.standardInput && left.isShell == right.isShell
            && left.environment.elementsEqual(right.environment, by: ==)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(arguments)
        hasher.combine(directory)
        hasher.combine(standardInput)
    }
}
