import MQTTTopics
import Rules
import Testing

@testable import Hub

@Suite("Jobs")
struct JobsTests {
    private static let step = ActionID(run: RunID(rawValue: 1), index: 0)
    private static let id = JobID(rawValue: 7)

    private static func jobs(_ action: ExternalAction) -> Jobs {
        var jobs = Jobs()
        jobs.started(id, Jobs.StepJob(step: step, run: step.run, rule: "light", action: action))
        return jobs
    }

    @Test("a variable of a step takes the place of the configuration's, whatever character its value begins with")
    func variables() {
        let action = ProcessAction(
            arguments: ["notify"], environment: ["TRYCK_RULE=a", "LANG=\u{301}", "T=", "USER2=b", "PATH="])
        let request = ProcessRequest(action, ["PATH=/bin", "LANG=C", "TZ=UTC", "USER=tryck"], in: "/")
        #expect(request.environment == ["TZ=UTC", "USER=tryck"] + action.environment)
    }

    @Test("a cancelled program remains until it has ended, because clients see its end; no step waits for it")
    func program() throws {
        var jobs = Self.jobs(.process(ProcessAction(arguments: ["true"])))
        let cancelled = jobs.cancel(Self.step)
        #expect(cancelled.map(\.0) == [Self.id] && cancelled.map(\.1) == [.process])
        #expect(jobs.stepCount == 1 && jobs.problems().isEmpty)
        let result = try #require(JobKind.process.resultWhenCancelled)
        let end = jobs.ended(Self.id, result)
        let (job, ended) = try #require(end)
        #expect(job.step == nil && job.rule == "light" && ended.streamKind == .process)
        let again = jobs.ended(Self.id, result)
        #expect(jobs.stepCount == 0 && again == nil)
    }

    @Test("a cancelled web request is forgotten at once")
    func webRequest() {
        var jobs = Self.jobs(.http(HTTPAction(url: "http://localhost/")))
        let cancelled = jobs.cancel(Self.step)
        #expect(cancelled.map(\.1) == [.http] && jobs.stepCount == 0)
    }

    @Test("the result of another kind of job does not end a job")
    func otherKind() {
        var jobs = Self.jobs(.http(HTTPAction(url: "http://localhost/")))
        let other = jobs.ended(Self.id, JobKind.process.success(after: .zero))
        #expect(other == nil && jobs.stepCount == 1)
        let own = jobs.ended(Self.id, JobKind.http.success(after: .zero))
        #expect(own != nil && jobs.stepCount == 0)
    }
}
