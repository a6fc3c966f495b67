import TestSupport
import Testing

@Suite("Sites, engines and brokers that die at any step")
struct FeedStoryTests {
    private static let handfuls = seeds(200).handfuls(of: 50)

    @Test("each press is acted on once, or reported, or still in a journal", arguments: handfuls)
    func promises(seeds: [UInt64]) {
        for seed in seeds {
            let story = FeedStory(seed: seed)
            guard let problem = story.problems.first else { continue }
            Issue.record("seed \(seed), \(story.faults): \(problem)\n\(story.log.joined(separator: "\n"))")
        }
    }
}
