import Glibc
import Testing

@Suite("Sites, engines and brokers that die at any step")
struct FeedStoryTests {
    /// The seeds of every run. `TRYCK_SEEDS` sets their number, and `TRYCK_SEED` the first one.
    private static let seeds: [UInt64] = {
        let count = number("TRYCK_SEEDS") ?? 200
        let first = number("TRYCK_SEED") ?? 1
        return (0..<count).map { first + $0 }
    }()

    private static func number(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }

    /// Several seeds in one test, because a test for each seed costs more than its story.
    private static let handfuls = stride(from: 0, to: seeds.count, by: 50).map {
        Array(seeds[$0..<min($0 + 50, seeds.count)])
    }

    @Test("each press is acted on once, or reported, or still in a journal", arguments: handfuls)
    func promises(seeds: [UInt64]) {
        for seed in seeds {
            let story = FeedStory(seed: seed)
            guard let problem = story.problems.first else { continue }
            Issue.record("seed \(seed), \(story.faults): \(problem)\n\(story.log.joined(separator: "\n"))")
        }
    }
}
