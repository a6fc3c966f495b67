import ButtonModel
import TestSupport
import Testing

@testable import Feed

/// An engine in a `FeedWorld`: its disk, and its process, if it runs.
struct WorldEngine {
    struct Position: Hashable {
        var site: String
        var button: ButtonID
    }

    /// An action that was sent to the broker and is not acknowledged.
    struct Action {
        var id: Int
        var place: FeedPlace
    }

    static let client = "engine"

    var disk: [Position: FeedPosition] = [:]
    var machine: EngineMachine?
    var inputs: [EngineInput] = []
    var effects: [FeedSource.Effect] = []
    var actions: [Action] = []
    /// The topics of the machine's messages that the broker has not acknowledged, by the numbers of the messages.
    var unacknowledged: [Int: String] = [:]
    var timer: Instant?
    var nextID = 1
    /// The term in which it has led since its process started.
    var term: Int?

    mutating func start(_ design: FeedDesign) {
        machine = EngineMachine(design)
        term = nil
        let positions = disk.values.sorted { ($0.site, $0.button) < ($1.site, $1.button) }
        inputs = [.machine(.start(positions))]
    }

    mutating func die() {
        machine = nil
        inputs = []
        effects = []
        actions = []
        unacknowledged = [:]
        timer = nil
    }

    var isBusy: Bool { !inputs.isEmpty || !effects.isEmpty }
}

/// What an engine's process does next, when it has carried out all effects.
enum EngineInput {
    case machine(FeedSource.Input)
    /// The marker that it sent after its subscription has come back, so the retained messages have arrived.
    case marker
    /// Send the PUBACK for a message that has been handled.
    case acknowledge(Int)
}

/// How presses come from a site to an engine: the designs of which only the last keeps the promises.
enum FeedDesign: CaseIterable {
    /// QoS 1 and a persistent session, nothing else.
    case session
    /// The cursor is published after the action.
    case cursorAfterAction
    /// The cursor is published before the action, and the order is not checked.
    case cursorBeforeAction
    /// `FeedSource`.
    case feed
}

/// The machine of an engine: the real one, or one of the wrong designs.
enum EngineMachine {
    case feed(FeedSource)
    case wrong(WrongEngine)

    init(_ design: FeedDesign) {
        switch design {
        case .feed: self = .feed(FeedSource(engine: "a1"))
        case .session, .cursorAfterAction, .cursorBeforeAction: self = .wrong(WrongEngine(design))
        }
    }

    /// The highest term of engines and of sites.
    var highestTerm: Int {
        switch self {
        case .feed(let source): max(source.highestTerm, source.siteTerm)
        case .wrong: 0
        }
    }

    /// True if it takes messages.
    var isTaking: Bool {
        switch self {
        case .feed(let source): source.isTaking
        case .wrong: false
        }
    }

    /// The highest term of an engine, if another engine has ended the taking of messages.
    var outrankingTerm: Int? {
        switch self {
        case .feed(let source): source.isTaking ? nil : source.highestTerm
        case .wrong: nil
        }
    }

    /// The term in which it leads, if a site would ignore claims of it.
    var ignoredTerm: Int? {
        switch self {
        case .feed(let source): source.term.flatMap { $0 < source.siteTerm ? $0 : nil }
        case .wrong: nil
        }
    }

    mutating func handle(_ input: FeedSource.Input, at now: Instant) -> [FeedSource.Effect] {
        switch self {
        case .feed(var source):
            let effects = source.checked(input, at: now)
            self = .feed(source)
            return effects
        case .wrong(var engine):
            let effects = engine.handle(input)
            self = .wrong(engine)
            return effects
        }
    }
}
