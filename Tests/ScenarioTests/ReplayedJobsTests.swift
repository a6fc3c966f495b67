import ButtonModel
import Hub
import Testing

@testable import ReplayCommands

@Suite("The results of programs in a replay")
struct ReplayedJobsTests {
    private static func time(_ seconds: Int64) -> Instant { Instant(sinceBoot: .seconds(seconds)) }

    private static func id(_ number: Int) -> JobID { JobID(rawValue: UInt64(number)) }

    private static func result(_ output: String) -> JobResult {
        .process(ProcessResult(status: .exited(0), standardOutput: Array(output.utf8)))
    }

    @Test("a recorded job is forgotten after a minute, also if the same is never started again")
    func expiry() {
        var jobs = ReplayedJobs()
        for number in 1...200 {
            let id = Self.id(number)
            jobs.recorded(RecordedJob(id: id, fingerprint: "\(number)"), at: Self.time(Int64(number)))
            #expect(jobs.ended(id, Self.result("\(number)")) == nil)
            #expect(jobs.freeIDs.count == min(number, 61))
        }
        #expect(jobs.started(Self.id(7), .process, "139", until: nil, at: Self.time(200)) == nil)
        #expect(
            jobs.started(Self.id(8), .process, "140", until: nil, at: Self.time(200))
                == .jobEnded(Self.id(8), Self.result("140")))
        #expect(jobs.freeIDs.count == 60)
    }

    @Test("an unknown result comes after two seconds, and not after the end of the step's time limit")
    func patience() {
        var jobs = ReplayedJobs()
        #expect(jobs.started(Self.id(1), .process, "a", until: nil, at: Self.time(0)) == nil)
        #expect(jobs.started(Self.id(2), .process, "b", until: Self.time(30), at: Self.time(0)) == nil)
        #expect(jobs.started(Self.id(3), .process, "c", until: Self.time(1), at: Self.time(0)) == nil)
        #expect(jobs.nextDeadline == Self.time(1))
        #expect(jobs.takeUnknown(at: Self.time(1)).map(\.job) == [Self.id(3)])
        #expect(jobs.nextDeadline == Self.time(2))
        #expect(jobs.takeUnknown(at: Self.time(2)).map(\.job) == [Self.id(1), Self.id(2)])
    }
}
