import ButtonModel
import Hub
import JSON
import Rules
import Simulator
import TestSupport
import Testing

@Suite("Random houses with random faults")
struct StoryTests {
    private static let handfuls = seeds(200).handfuls(of: 10)

    @Test("in every random story the promises are kept", arguments: handfuls)
    func promises(seeds: [UInt64]) { expectPromises(seeds.map { Story(seed: $0) }) }

    private func expectPromises(_ stories: [Story]) {
        var isFirst = true
        for story in stories {
            let told = StoryRun(story)
            if let digest = told.house.digest { EffectDigestFile.append(digest, seed: story.seed) }
            guard let problem = told.problems.first else { continue }
            // Only the first failure is shortened, because the others may have the same cause.
            let shown = isFirst ? told.shortened(for: problem.promise) : told
            isFirst = false
            Issue.record("\(shown.problems[0])\n\(shown.story)\n\(shown.saveRecording())")
        }
    }

    private static let mixedHandfuls = seeds(20, variable: "TRYCK_MIXED_SEEDS").handfuls(of: 10)

    @Test(
        "with radios of several kinds that die, stall and lie, the promises are kept, and each press is counted once",
        arguments: mixedHandfuls)
    func mixedPromises(seeds: [UInt64]) { expectPromises(seeds.map { Story(mixed: $0) }) }

    @Test(
        "a button that only one of two bluetoothd has connected keeps that link, though the other one's was reported first"
    )
    func phantomOfBlueZ() {
        // The last press of hall in this story is heard by both at the same moment.
        expectPromises([Story(mixed: 91758)])
    }

    @Test("some stories have a proxy that another client takes, and some have one whose scanner gets stuck")
    func mixedIngredients() {
        let stories = (UInt64(1)...100).map { Story(mixed: $0) }
        func count(_ isFault: (SimulatedProxy.Trouble) -> Bool) -> Int {
            stories.count { story in
                story.happenings.contains {
                    if case .farEnd(_, .proxy(let trouble)) = $0.misfortune { isFault(trouble) } else { false }
                }
            }
        }
        #expect(count { if case .occupied = $0 { true } else { false } } >= 5)
        #expect(count { $0 == .stuckScanner } >= 5)
    }

    @Test(
        "a turn may be as late as the far end of a radio that did nothing meanwhile: bluetoothd, or a proxy without its network",
        arguments: [
            (.bluez, .bluetoothd(.stall(for: .seconds(15)))), (.proxy, .proxy(.cut(for: .seconds(15)))),
        ] as [(HouseRadio, FarEndTrouble)])
    func stalledTurn(kind: HouseRadio, trouble: FarEndTrouble) {
        // The press shows that the connection to a proxy works, so that it is not given up during the trouble.
        let misfortunes: [Misfortune] = [
            .press("desk", .click), .farEnd(0, trouble), .move(.pushTurn(button: "desk", hundredths: 9)),
        ]
        var story = Story(
            seed: 1,
            happenings: misfortunes.enumerated().map { .init(at: .seconds(1 + $0.offset), misfortune: $0.element) })
        story.mixture = [kind]
        let told = StoryRun(story)
        if let problem = told.problems.first { Issue.record("\(problem)\n\(told.story)") }
    }

    @Test("stories have presses on full disks, few links, and long holds whose link is lost; some have all three")
    func ingredients() {
        let stories = seeds(200).map { Story(seed: $0) }
        let counts = [
            stories.count(where: \.hasPressOnFullDisk), stories.count(where: \.hasFewLinks),
            stories.count(where: \.hasLongHold),
            stories.count { $0.hasPressOnFullDisk && $0.hasFewLinks && $0.hasLongHold },
        ]
        print(
            "\(stories.count) stories: \(counts[0]) with a press on a full disk, \(counts[1]) with few links, "
                + "\(counts[2]) with a long hold, \(counts[3]) with all three")
        let faultyRadios = stories.count(where: \.hasFaultyRadio)
        print("\(faultyRadios) with one of several radios that stalls or lies")
        guard stories.count >= 200 else { return }
        #expect(faultyRadios * 8 >= stories.count)
        for (count, share) in zip(counts, [10, 4, 5, 200]) { #expect(count * share >= stories.count) }
    }

    @Test(
        "after a crash at any effect of a press the promises are kept, with both buttons of a Duo and a Twist",
        arguments: stride(from: 0, to: 80, by: 10).map { $0..<$0 + 10 })
    func deaths(places: Range<Int>) {
        for (effects, isPowerCut) in places.flatMap({ [($0, false), ($0, true)] }) {
            let misfortunes: [Misfortune] = [
                .button("sofa", .lostAcknowledgement), .dieWithin(effects: effects, isPowerCut: isPowerCut),
                .press("sofa", .click), .move(.press(button: "sofa", .doubleClick, part: .small)),
                .press("desk", .doubleClick), .move(.swipe(button: "sofa", .left, part: .big)),
                .move(.pushTurn(button: "desk", hundredths: 9)),
            ]
            let told = StoryRun(
                Story(
                    seed: UInt64(effects),
                    happenings: misfortunes.enumerated().map {
                        .init(at: .milliseconds(50 * $0.offset), misfortune: $0.element)
                    }))
            if let problem = told.problems.first { Issue.record("\(problem)\n\(told.story)") }
        }
    }
}
