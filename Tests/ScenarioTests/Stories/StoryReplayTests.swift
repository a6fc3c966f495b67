import Glibc
import JSON
import Testing

@testable import ReplayCommands

@Suite("A story with a broken promise")
struct StoryReplayTests {
    /// A topic without a promise, so that other stories do not check it.
    private static let topic = "did/hall_repeat"

    @Test("a failing story is reduced to its shortest form, and tryck replay replays its recording")
    func replay() throws {
        let told = (1...50).lazy.map { StoryRun(Story(seed: $0), forbiddenTopic: Self.topic) }
            .first { $0.problems.first?.promise == "P0" }
        let shortest = try #require(told).shortened(for: "P0")
        #expect(shortest.problems.first?.sentence == "published on did/hall_repeat")
        #expect(shortest.story.happenings.count <= 2)
        #expect(shortest.story.description.contains(#"press("hall""#))

        let sentence = shortest.saveRecording()
        let path = try #require(sentence.split(separator: " ").last.map(String.init))
        defer { unlink(path) }
        #expect(sentence.contains("tryck replay /"))
        var reader = try RecordingReader(path)
        var run = ReplayRun()
        var published = 0
        while let line = try reader.next() {
            for case .line(let line, _) in try run.take(line) where line["topic"]?.stringValue == Self.topic {
                published += 1
            }
        }
        #expect(published > 0)
        #expect(try run.summary().isCutOff == false)
    }
}
