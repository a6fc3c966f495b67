import Testing

/// Why the feed is as it is: three simpler designs lose or repeat presses if an engine dies between two of its steps.
@Suite("Designs of the feed")
struct FeedDesignTests {
    /// What came of the presses of many stories in which only engines die.
    private struct Outcome {
        var presses = 0
        var kills = 0
        var actedTwice = 0
        var neverActed = 0
        var reported = 0
        var reportedAndActed = 0

        init(of design: FeedDesign, seeds: ClosedRange<UInt64> = 1...30) {
            for seed in seeds {
                let story = FeedStory(seed: seed, design: design, faults: .engine, steps: 1000, startsConnected: true)
                presses += story.world.account.fates.count
                kills += story.kills
                actedTwice += story.world.account.actedTwice
                neverActed += story.world.account.neverActed
                reported += story.world.account.reported
                reportedAndActed += story.world.account.reportedAndActed
            }
            print(
                "\(design): \(presses) presses, \(kills) kills, \(actedTwice) acted on twice, \(neverActed) never, "
                    + "\(reported) of those reported, \(reportedAndActed) reported although acted on")
        }
    }

    @Test("QoS 1 and a persistent session alone act twice")
    func session() {
        let outcome = Outcome(of: .session)
        #expect(outcome.actedTwice > 0)
        #expect(outcome.neverActed == 0)
    }

    @Test("a cursor that is published after the action acts twice, and loses presses that nobody reports")
    func cursorAfterAction() {
        let outcome = Outcome(of: .cursorAfterAction)
        #expect(outcome.actedTwice > 0)
        #expect(outcome.neverActed > 0)
        #expect(outcome.reported == 0)
    }

    @Test(
        "a cursor that is published before the action, without a check of the order, loses presses that nobody reports")
    func cursorBeforeAction() {
        let outcome = Outcome(of: .cursorBeforeAction)
        #expect(outcome.actedTwice == 0)
        #expect(outcome.neverActed > outcome.reported)
    }

    @Test(
        "with the cursor before the action and the order checked, none is acted on twice, and each lost one is reported"
    )
    func feed() {
        let outcome = Outcome(of: .feed)
        #expect(outcome.kills >= 100)
        #expect(outcome.actedTwice == 0)
        #expect(outcome.neverActed > 0)
        #expect(outcome.neverActed == outcome.reported)
    }
}
