import ButtonModel
import DiskTestSupport
import Expressions
import Gestures
import Hub
import Reactor
import ReactorTestSupport
import Rules
import Testing

@testable import Edges

@Suite("The state of rules in the store")
struct StoreRuleStateTests {
    private static let button = StoredButton.example(1).id

    private static func waiting(_ run: UInt64, endsAt: Int64 = 1_795_228_500_000) -> WaitingRun {
        var facts = TriggerFacts()
        facts.id = "left"
        facts.button = "kitchen"
        facts.uuid = "000102030405060708090a0b0c0d0e0f"
        facts.serial = "BA00-A00001"
        facts.address = "80:e4:da:00:00:01"
        facts.nickname = "Küche \"a\"\n\0"
        facts.event = "double_click"
        facts.part = .dial
        facts.clicks = 2
        facts.steps = -3
        facts.position = 40
        facts.slot = 12
        facts.heldFor = .milliseconds(1300)
        facts.wasQueued = true
        facts.age = .milliseconds(2999)
        facts.at = "2026-03-29T01:30:00+01:00"
        facts.isManual = true
        facts.isInterrupting = true
        return WaitingRun(
            run: RunID(rawValue: run), rule: "stairs", fingerprint: "a1b2",
            cause: RunCause(button: button, facts: facts, at: UTCTime(milliseconds: 1_795_228_200_123)),
            endsAt: UTCTime(milliseconds: endsAt), saved: #"{"frames":[1,2],"text":"é \" \\ "}"#)
    }

    /// A state of each kind, with values that are hard to encode.
    private static let state = RuleState(
        variables: [
            "flag": .boolean(false), "count": .integer(.min), "most": .integer(.max), "level": .number(0.1),
            "whole": .number(3), "huge": .number(.greatestFiniteMagnitude),
            "tiny": .number(-.leastNonzeroMagnitude),
            "text": .string("on'; DROP TABLE rule_state; -- \0 é 🔔"), "empty": .string(""),
        ],
        cycles: [
            "kitchen_scenes/actions[0].cycle": CyclePosition(next: 2, at: UTCTime(milliseconds: -1)),
            "scenes.actions[1].cycle": CyclePosition(next: 0, at: UTCTime(milliseconds: .max)),
        ],
        enabled: [
            "guest_light": EnabledOverride(isEnabled: true, inFile: false),
            "hall": EnabledOverride(isEnabled: false, inFile: true),
        ],
        cooldowns: [
            Cooldown(rule: "door", endsAt: UTCTime(milliseconds: 1_795_228_205_123)),
            Cooldown(rule: "door", button: button, endsAt: UTCTime(milliseconds: 0)),
        ],
        waitingRuns: [
            waiting(2), waiting(10),
            WaitingRun(
                run: RunID(rawValue: 11), rule: "by_hand", fingerprint: "",
                cause: RunCause(at: .init(milliseconds: 5)),
                endsAt: UTCTime(milliseconds: 6), saved: ""),
        ],
        keptEvents: [kept("last", hold: nil), kept("é'/", hold: .init(wasQueued: true, age: .milliseconds(1500)))],
        dailyTimes: ["count": UTCTime(milliseconds: 1_795_228_200_123)])

    private static func kept(_ rule: String, hold: RecognisedEvent.Lateness?) -> KeptEvent {
        KeptEvent(
            rule: rule, fingerprint: "a1b2", trigger: 3, button: button, number: 7, cause: waiting(1).cause, hold: hold)
    }

    private static func changes(_ state: RuleState) -> [RuleStateChange] {
        state.variables.map { .variable($0.key, $0.value) } + state.cycles.map { .cycle($0.key, $0.value) }
            + state.enabled.map { .enabled(rule: $0.key, $0.value) } + state.cooldowns.map { .cooldown($0) }
            + state.waitingRuns.map { .waiting($0.run, $0) }
            + state.keptEvents.map { .kept(rule: $0.rule, $0.button, $0) }
            + state.dailyTimes.map { .daily($0.key, $0.value) }
    }

    @Test("every kind of change is loaded as it was stored, also after a restart")
    func roundTrip() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            #expect(try store.load().rules == RuleState())
            try store.apply(Self.changes(Self.state).map(StoreChange.rules))
            #expect(try store.load().rules == Self.state)
        }
        try await withReactor {
            let store = try openStore(directory)
            #expect(try store.load().rules == Self.state)
            #expect(store.notices.isEmpty)
        }
    }

    @Test("a later change replaces or removes a value, and no other value changes")
    func changes() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            try store.apply(Self.changes(Self.state).map(StoreChange.rules))
            var expected = Self.state
            @ReactorActor func expect(_ change: RuleStateChange, _ edit: (inout RuleState) -> Void) throws {
                edit(&expected)
                for _ in 0..<2 {
                    try store.apply([.rules(change)])
                    #expect(try store.load().rules == expected, "\(change)")
                }
            }
            try expect(.variable("count", .integer(7))) { $0.variables["count"] = .integer(7) }
            try expect(.variable("text", nil)) { $0.variables["text"] = nil }
            let position = CyclePosition(next: 1, at: UTCTime(milliseconds: 9))
            try expect(.cycle("scenes.actions[1].cycle", position)) { $0.cycles["scenes.actions[1].cycle"] = position }
            try expect(.cycle("scenes.actions[1].cycle", nil)) { $0.cycles["scenes.actions[1].cycle"] = nil }
            let override = EnabledOverride(isEnabled: true, inFile: true)
            try expect(.enabled(rule: "hall", override)) { $0.enabled["hall"] = override }
            try expect(.enabled(rule: "hall", nil)) { $0.enabled["hall"] = nil }
            let later = Cooldown(rule: "door", button: Self.button, endsAt: UTCTime(milliseconds: 77))
            try expect(.cooldown(later)) { $0.cooldowns[1] = later }
            let moved = Self.waiting(10, endsAt: 8)
            try expect(.waiting(RunID(rawValue: 10), moved)) { $0.waitingRuns[1] = moved }
            try expect(.waiting(RunID(rawValue: 2), nil)) { $0.waitingRuns.removeFirst() }
            try expect(.kept(rule: "last", Self.button, nil)) { $0.keptEvents.removeFirst() }
            let time = UTCTime(milliseconds: 9)
            try expect(.daily("count", time)) { $0.dailyTimes["count"] = time }
            try expect(.daily("count", nil)) { $0.dailyTimes["count"] = nil }
        }
    }

    @Test(
        "an invalid row is reported and ignored; the other rows are loaded, and it stays in the file",
        arguments: [
            ("variable", "a", "7"), ("variable", "a", "{}"), ("variable", "a", #"{"integer":"7"}"#),
            ("variable", "a", #"{"list":[1]}"#), ("variable", "a", #"{"integer":7,"boolean":true}"#),
            ("variable", "a", "not JSON"), ("variable", "a", ""), ("mood", "a", #"{"integer":7}"#),
            ("cycle", "r/actions[0].cycle", #"{"next":1}"#),
            ("cycle", "r/actions[0].cycle", #"{"next":0.5,"at_ms":1}"#),
            ("enabled", "r", #"{"enabled":"yes","in_file":true}"#), ("cooldown", "r", #"{"rule":"r"}"#),
            ("cooldown", "r/x", #"{"rule":"r","button":"kitchen","ends_at_ms":5}"#),
            ("waiting", "3", #"{"run":3}"#), ("waiting", "3", #"{"run":-3}"#), ("waiting", "3", "[[[[[["),
        ])
    func nonsense(_ kind: String, _ key: String, _ value: String) async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            try store.apply([.rules(.variable("b", .boolean(true)))])
            try store.database?.run(
                "INSERT INTO rule_state (kind, key, value) VALUES (?, ?, ?)", .text(kind), .text(key), .text(value))
            #expect(try store.load().rules == RuleState(variables: ["b": .boolean(true)]))
            #expect(store.notices == [.unreadable(table: "rule_state", row: key)])
        }
        try await withReactor {
            let store = try openStore(directory)
            #expect(try #require(store.database).rows("SELECT count(*) FROM rule_state") { $0.integer(0) } == [4])
        }
    }

    @Test("a file of schema version 2 is migrated, with its contents")
    func migration() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let old = try Database(path: directory.path + "/tryck.sqlite", busyTimeout: .zero)
            for statement in StoreSchema.migrations[..<2].joined() { try old.run(statement) }
            try old.run("PRAGMA user_version = 2")
            try old.run("INSERT INTO installation (only_row, id, next_run) VALUES (1, 'beef', 41)")
            try old.run("INSERT INTO runs VALUES (40, 'hall', '80e4da000001', 1, 2, 1700000000000)")
            try old.run(
                """
                INSERT INTO buttons
                VALUES ('80e4da000001', 0, '00', 'BA00-A00001', '', 10, NULL, 1, zeroblob(16), 1700000000000, 1, 3, 0, NULL,
                    NULL, 2, 4, NULL, 'normal', 1, '', NULL, NULL, 0)
                """)
        }
        try await withReactor {
            let store = try openStore(directory)
            let run = StoredRun.example(40, Self.button)
            let state = try store.load()
            #expect(state.installationID == "beef" && state.nextRun == 41 && state.runs == [run])
            #expect(state.buttons.map(\.identity.model) == [.flic2])
            #expect(state.buttons.map(\.cursor) == [EventCursor(bootID: 1, eventCount: 3)])
            #expect(state.buttons.map(\.settings) == [ButtonSettings()] && state.buttons.map(\.dials) == [[:]])
            let found = try #require(store.database).rows("PRAGMA user_version") { $0.integer(0) }
            #expect(found == [Int64(StoreSchema.version)])
            #expect(state.buttons.map(\.lastSeen) == [nil])
            try store.apply([.rules(.variable("a", .integer(1)))])
        }
        let again = try await withReactor { try openStore(directory).load() }
        #expect(again.installationID == "beef" && again.rules.variables == ["a": .integer(1)])
    }

    @Test("a run and its variables are recorded together or not at all")
    func together() async throws {
        let directory = TemporaryDirectory()
        try await withReactor {
            let store = try openStore(directory)
            try store.database?.run(
                "CREATE TRIGGER full BEFORE INSERT ON rule_state BEGIN SELECT RAISE(ABORT, 'no'); END")
            #expect(throws: StoreFailure.self) {
                try store.apply([.runStarted(.example(1, Self.button)), .rules(.variable("a", .integer(1)))])
            }
            #expect(try store.load() == StoredState(installationID: "05a1"))
        }
    }
}
