import ButtonModel
import DiskTestSupport
import Expressions
import Hub
import Reactor
import ReactorTestSupport
import Rules
import TestSupport
import Testing

@testable import Edges

@Suite("Changes that could not be recorded")
struct UnrecordedChangesTests {
    @Test("they have the same result as all changes one by one, and have a limit", arguments: 0..<8 as Range<UInt64>)
    func same(seed: UInt64) async throws {
        try await withReactor {
            let (all, short) = (TemporaryDirectory(in: "/dev/shm"), TemporaryDirectory(in: "/dev/shm"))
            let (first, second) = (try openStore(all), try openStore(short))
            var random = SeededGenerator(seed: seed)
            for store in [first, second] {
                try store.apply([.putButton(.example(1)), .runStarted(.example(1, StoredButton.example(1).id))])
                try store.apply([.rules(.variable("mood", .string("old")))])
            }
            var unrecorded = UnrecordedChanges()
            var nextRun: UInt64 = 2
            for _ in 0..<400 {
                let change = Self.change(&random, &nextRun)
                try first.apply([change])
                unrecorded.add(change)
            }
            // Three buttons with nine aspects each, three variables, and the unfinished runs.
            let runCount = try first.load().runs.count
            #expect(unrecorded.changes.count <= 3 * 9 + 3 + runCount + 10)
            try second.apply(unrecorded.changes)
            #expect(try first.load() == second.load())
        }
    }

    private static func change(_ random: inout SeededGenerator, _ nextRun: inout UInt64) -> StoreChange {
        let number = UInt64.random(in: 1...3, using: &random)
        let id = StoredButton.example(number).id
        let value = Int.random(in: 0..<1000, using: &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0: return .putButton(.example(number, name: "\(value)"))
        case 1: return .removeButton(id)
        case 2:
            return .progress(
                id, EventCursor(bootID: 1, eventCount: UInt32(value)), recogniser: "\(value)",
                pressCount: Tally(clamping: value), sequence: Tally(clamping: value), publishWatermark: Int64(value) - 1
            )
        case 3: return .fact(id, .name(value.isMultiple(of: 3) ? nil : "\(value)"))
        case 4: return .settings(id, ButtonSettings(isConnectionWanted: value.isMultiple(of: 2)))
        case 5: return .battery(id, millivolts: value, measuredAt: UTCTime(milliseconds: Int64(value)), isLow: false)
        case 6: return .fact(id, .firmware(UInt32(value)))
        case 7: return .rules(.variable("v\(number)", value.isMultiple(of: 3) ? nil : .string("\(value)")))
        case 8: return .fact(id, .triggerMode(value.isMultiple(of: 2) ? .click : nil))
        case 9: return .publishWatermark(id, Int64(value))
        case 10, 11:
            nextRun += 1
            return .runStarted(.example(nextRun - 1, id))
        default:
            // Only a few runs are unfinished, because the older ones end.
            return .runEnded(UInt64.random(in: max(1, nextRun - min(nextRun, 6))...nextRun, using: &random))
        }
    }

    @Test("only the last of a thousand ended runs is kept, and no number is used twice")
    func runs() async throws {
        var unrecorded = UnrecordedChanges()
        let button = StoredButton.example(1).id
        for number in 5..<1005 as Range<UInt64> {
            unrecorded.add(.runStarted(.example(number, button)))
            unrecorded.add(.rules(.waiting(RunID(rawValue: number), nil)))
            unrecorded.add(.runEnded(number))
        }
        #expect(unrecorded.changes == [.runStarted(.example(1004, button)), .runEnded(1004)])
        let changes = unrecorded.changes
        let state = try await withReactor {
            let store = try openStore(TemporaryDirectory(in: "/dev/shm"))
            try store.apply(changes)
            return try store.load()
        }
        #expect(state == StoredState(installationID: "05a1", nextRun: 1005))
    }
}
