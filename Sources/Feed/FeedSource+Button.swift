import ButtonModel

extension FeedSource {
    /// The messages that an engine claimed in an earlier life of the site (`FeedLife`), and that no `done` covers.
    struct FormerOpen: Hashable, Sendable {
        /// The last of them.
        var place: FeedPlace
        var first: Int
    }

    /// A button of a site.
    struct Button: Hashable, Sendable {
        var state = State.unknown
        /// Our own claim, or one that we have adopted. `cursor` is its number.
        var claim: FeedCursor?
        /// The retained messages `cursor` and `done` that were received on this connection. They may be from an earlier
        /// installation of the site.
        var heardClaim: FeedCursor?
        var heardDone: FeedDone?
        /// The number up to which each message is accounted for: an engine has done it, it was reported as interrupted,
        /// or this process has taken it.
        var accounted = 0
        /// The first and the last message that this process took and that is not settled.
        var open: ClosedRange<Int>?
        var formerOpen: FormerOpen?
        /// The number of the last message that the owner knows to be taken: by this process (`Effect.took`), or by another one
        /// (`Effect.inherited`). `nil` if it knows of none.
        var lastTaken: Int?
        /// The numbers of the claims that were published on this connection and that the broker has not acknowledged, in order.
        var announced: [Int] = []
        /// The first and the last message that this process took and whose claim the broker has not acknowledged. If the connection
        /// ends, the broker may have received neither the claims nor the actions.
        var unconfirmed: ClosedRange<Int>?
        /// The numbers of the messages `done` that were published on this connection and that the broker has not acknowledged, in
        /// order.
        var announcedDone: [Int] = []
        /// The first and the last message that this engine has reported as interrupted or lost on this connection, until the broker has
        /// acknowledged the `done` that follows the report, and so has the report.
        private(set) var reported: ClosedRange<Int>?
        /// The first and the last message that this engine has reported on connections that have ended before the broker
        /// acknowledged the `done` behind the report. The broker may not have the report.
        private var lostReport: ClosedRange<Int>?
        /// When each message was taken that is open or unconfirmed, in order.
        private(set) var taken: [Taken] = []
        /// True if a connection has ended since the button was started last, so that what is unconfirmed may be lost.
        var isReconnected = false
        /// True if this engine has stood by since the button was started last, so that its owner acts on nothing that was taken before.
        var hasStoodBy = false
        /// True if a message has arrived that does not follow the cursor.
        var hasGap = false
        var askedAt: Instant?
        var doneAt: Instant?

        /// The number of the last claimed message; 0: none.
        var cursor: Int { claim?.number ?? 0 }

        /// The number up to which everything is done, as far as we know.
        var done: Int { open.map { $0.lowerBound - 1 } ?? accounted }

        /// The number up to which everything is done, whatever the connection loses. The rest of `done` is known to be done only
        /// as long as the connection is up, or if the broker says so afterwards.
        var certainlyDone: Int {
            [unconfirmed, reported, lostReport].compactMap { $0.map { $0.lowerBound - 1 } }.reduce(done, min)
        }

        private static let maximumTaken = 1024

        struct Taken: Hashable, Sendable {
            var number: Int
            var at: Instant
        }

        /// When the first of the messages was taken that are given up if the connection ends now: those that are unconfirmed, and
        /// those that are open together with them. `nil` if none is.
        var givenUpSince: Instant? {
            guard let unconfirmed else { return nil }
            let first = min(unconfirmed.lowerBound, open?.lowerBound ?? unconfirmed.lowerBound)
            return taken.first { $0.number >= first }?.at
        }

        /// When the first of the open messages was taken; `nil` if no message is open.
        var openSince: Instant? { open.flatMap { open in taken.first { $0.number >= open.lowerBound }?.at } }

        init() {}

        init(own position: FeedPosition) {
            claim = position.claim
            accounted = min(position.done, position.claim.number)
            // The messages that an earlier process of this engine has claimed and not done are inherited like those of another
            // engine.
            lastTaken = accounted
        }

        /// The broker may forget retained topics while we have no connection to it.
        mutating func connectionEnded() {
            heardClaim = nil
            heardDone = nil
            askedAt = nil
            announced = []
            announcedDone = []
            if let reported { lostReport = lostReport.map { $0.joined(reported) } ?? reported }
            reported = nil
            isReconnected = true
            guard let unconfirmed else { return }
            accounted = min(accounted, unconfirmed.lowerBound - 1)
            // Messages that are open together may be presses of one gesture, so none of them is acted on any more.
            giveUpOpen()
        }

        /// Another engine leads, or may lead.
        mutating func standBy() {
            hasStoodBy = true
            giveUpOpen()
        }

        /// The messages that are open are not acted on any more, so they are not accounted for.
        mutating func giveUpOpen() {
            guard let open else { return }
            accounted = min(accounted, open.lowerBound - 1)
            self.open = nil
        }

        /// The open messages up to this number are settled.
        mutating func settle(upTo number: Int, of open: ClosedRange<Int>) {
            self.open = number < open.upperBound ? (number + 1)...open.upperBound : nil
            forgetTaken()
        }

        /// Forgets the messages of a former installation of the site. Their numbers mean other messages in this installation.
        mutating func forgetFormer() {
            open = nil
            unconfirmed = nil
            reported = nil
            lostReport = nil
            lastTaken = nil
            forgetTaken()
        }

        /// The messages to report as interrupted, in order, because this engine begins to take the messages of the button: those that are
        /// not accounted for, and those whose report may have been lost. All of them then count as reported.
        ///
        /// - Parameter received: the number up to which the broker or the site says that everything is done, so that the broker has
        ///   received all reports up to there.
        mutating func takeReports(received: Int) -> [ClosedRange<Int>] {
            let lost = lostReport.flatMap { $0.upperBound <= received ? nil : $0 }
            let missing = accounted < cursor ? (accounted + 1)...cursor : nil
            lostReport = nil
            accounted = cursor
            let reports: [ClosedRange<Int>]
            if let lost, let missing, lost.upperBound + 1 >= missing.lowerBound {
                reports = [lost.joined(missing)]
            } else {
                reports = [lost, missing].compactMap(\.self)
            }
            for messages in reports { report(messages) }
            return reports
        }

        /// These messages are reported now.
        mutating func report(_ messages: ClosedRange<Int>) { reported = reported?.joined(messages) ?? messages }

        /// The broker has answered the first of the announced messages `done`.
        ///
        /// - Parameter isPublished: false if it was not published. As with claims, it need not be the first, so none of them confirms
        ///   anything; what is done is announced again.
        mutating func doneAnswered(isPublished: Bool) {
            guard !announcedDone.isEmpty else { return }
            let number = announcedDone.removeFirst()
            if !isPublished { announcedDone = announcedDone.map { _ in 0 } }
            if isPublished, let reported, number >= reported.upperBound { self.reported = nil }
        }

        private mutating func forgetTaken() {
            if unconfirmed == nil, open == nil { taken = [] }
        }

        /// A message with the numbers above `previous` was taken, and its claim is announced.
        mutating func awaitConfirmation(after previous: Int, _ number: Int, at now: Instant) {
            unconfirmed = (unconfirmed?.lowerBound ?? previous + 1)...number
            let first = min(unconfirmed?.lowerBound ?? number, open?.lowerBound ?? number)
            taken.removeAll { $0.number < first }
            // The two oldest entries become one, with the number of the second and the time of the first. If the second message is
            // given up, so is what the first one has caused. With its own time, rules would go on with messages that are reported.
            if taken.count == Self.maximumTaken {
                taken[1].at = taken[0].at
                taken.removeFirst()
            }
            taken.append(Taken(number: number, at: now))
        }

        /// The broker has acknowledged the first of the announced claims.
        mutating func confirmed() {
            guard let number = takeAnnounced(), let range = unconfirmed, number >= range.lowerBound else { return }
            unconfirmed = number < range.upperBound ? (number + 1)...range.upperBound : nil
            forgetTaken()
        }

        /// One of the announced claims was not published. It need not be the first, because the client refuses some before the
        /// broker has answered those before. So none of them confirms anything; the claim is announced again.
        mutating func notPublished() {
            announced = announced.dropFirst().map { _ in 0 }
            heardClaim = nil
        }

        /// Removes the first of the announced claims, because the broker has answered it.
        private mutating func takeAnnounced() -> Int? { announced.isEmpty ? nil : announced.removeFirst() }
    }
}

extension ClosedRange<Int> {
    /// The smallest range that has both.
    fileprivate func joined(_ other: Self) -> Self {
        Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
    }
}
