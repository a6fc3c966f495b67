import ButtonModel

extension FeedSource {
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
        /// What was claimed in an earlier life of the site and not done, until the broker has acknowledged a `done` behind the report.
        var formerOpen: FeedFormerOpen? {
            didSet { if formerOpen != oldValue { (isFormerReported, isFormerRefused) = (false, false) } }
        }
        /// True if `formerOpen` was reported on this connection.
        private var isFormerReported = false
        /// True if the broker has refused a report of `formerOpen`, so that a retained `done` does not say that it has one.
        private(set) var isFormerRefused = false
        /// The number of the last message that the owner knows to be taken: by this process (`Effect.took`), or by another one
        /// (`Effect.inherited`). `nil` if it knows of none.
        var lastTaken: Int?
        /// The numbers of the claims that were published on this connection and that the broker has not acknowledged, in order.
        var announced: [Int] = []
        /// The first and the last message that this process took and whose claim the broker has not acknowledged. If the connection
        /// ends, the broker may have received neither the claims nor the actions.
        var unconfirmed: ClosedRange<Int>?
        /// The numbers of the messages `done` that were published on this connection and that the broker has not acknowledged, in
        /// order; -1 for one that was published before a report that it does not confirm.
        var announcedDone: [Int] = []
        /// The messages that this engine has reported as interrupted or lost on this connection, until the broker has acknowledged the
        /// `done` that follows the report, and so has the report.
        private(set) var reported = RangeSet<Int>()
        /// The messages that this engine has reported on connections that have ended before the broker acknowledged the `done`
        /// behind the report. The broker may not have the report.
        private var lostReports = RangeSet<Int>()
        /// The messages whose report the broker has refused. It may have the `done` behind the report.
        private var refusedReports = RangeSet<Int>()
        /// The messages of refused reports that were made again on this connection, until the broker has acknowledged the `done` behind
        /// the new report.
        private var remadeReports = RangeSet<Int>()
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
            min(certainlyReported(done), unconfirmed.map { $0.lowerBound - 1 } ?? done)
        }

        /// At most this number: the one up to which the broker has all reports.
        func certainlyReported(_ number: Int) -> Int {
            let first = reported.union(lostReports).union(refusedReports).ranges.first
            return min(number, first.map { $0.lowerBound - 1 } ?? number)
        }

        /// At most this number: the one up to which the broker has refused no report. It may have the `done` behind a refused one.
        func notRefused(_ number: Int) -> Int {
            let first = refusedReports.union(remadeReports).ranges.first
            return min(number, first.map { $0.lowerBound - 1 } ?? number)
        }

        /// The number of reports above which the last two become one, also with what is between them.
        private static let maximumReports = 64

        private static func limit(_ reports: inout RangeSet<Int>) {
            while reports.ranges.count > maximumReports {
                let last = reports.ranges.suffix(2).map(\.self)
                reports.insert(contentsOf: last[0].lowerBound..<last[1].upperBound)
            }
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
            formerOpen = position.formerOpen
        }

        /// The broker may forget retained topics while we have no connection to it.
        mutating func connectionEnded() {
            heardClaim = nil
            heardDone = nil
            askedAt = nil
            announced = []
            announcedDone = []
            lostReports.formUnion(reported)
            Self.limit(&lostReports)
            reported = RangeSet()
            // The retained `done` may be the one behind the report that was refused.
            refusedReports.formUnion(remadeReports)
            Self.limit(&refusedReports)
            remadeReports = RangeSet()
            isFormerReported = false
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
            reported = RangeSet()
            lostReports = RangeSet()
            refusedReports = RangeSet()
            remadeReports = RangeSet()
            lastTaken = nil
            forgetTaken()
        }

        /// The messages to report as interrupted, in order, because this engine begins to take the messages of the button: those that are
        /// not accounted for, and those whose report may have been lost. All of them then count as reported.
        ///
        /// - Parameter received: the number up to which the broker or the site says that everything is done, so that the broker has
        ///   received all reports up to there that it has not refused.
        mutating func takeReports(received: Int) -> [ClosedRange<Int>] {
            lostReports.remove(contentsOf: 0..<received + 1)
            if accounted < cursor { lostReports.insert(contentsOf: accounted + 1..<cursor + 1) }
            accounted = cursor
            let lost = lostReports
            lostReports = RangeSet()
            return takeRefusedReports(and: lost)
        }

        /// The messages whose report the broker has refused, in order. They then count as reported again.
        ///
        /// - Parameter lost: further messages to report.
        mutating func takeRefusedReports(and lost: RangeSet<Int> = RangeSet()) -> [ClosedRange<Int>] {
            let ranges = refusedReports.union(lost).ranges.map { $0.lowerBound...$0.upperBound - 1 }
            remadeReports.formUnion(refusedReports)
            refusedReports = RangeSet()
            for messages in ranges { report(messages) }
            // What was published as done before does not follow these reports.
            if !ranges.isEmpty { confirmNoReports() }
            return ranges
        }

        /// What was claimed in an earlier life of the site and has to be reported now. It then counts as reported.
        mutating func takeFormerReport() -> FeedFormerOpen? {
            guard let formerOpen, !isFormerReported else { return nil }
            isFormerReported = true
            confirmNoReports()
            return formerOpen
        }

        /// These messages are reported now.
        mutating func report(_ messages: ClosedRange<Int>) {
            reported.insert(contentsOf: Range(messages))
            Self.limit(&reported)
        }

        /// The broker has refused a report.
        ///
        /// - Parameter place: the last of its messages.
        /// - Returns: whether the report has to be made again.
        mutating func reportRefused(_ place: FeedPlace, first: Int) -> Bool {
            if formerOpen == FeedFormerOpen(place: place, first: first) {
                (isFormerReported, isFormerRefused) = (false, true)
                return true
            }
            guard let claim, claim.installation == place.installation, place.number <= claim.number else {
                return false
            }
            reported.remove(contentsOf: first..<place.number + 1)
            refusedReports.insert(contentsOf: first..<place.number + 1)
            Self.limit(&refusedReports)
            return true
        }

        /// None of the announced messages `done` confirms that the broker has a report.
        mutating func confirmNoReports() { announcedDone = announcedDone.map { _ in -1 } }

        /// The broker has answered the first of the announced messages `done`.
        ///
        /// - Parameter isPublished: false if it was not published. As with claims, it need not be the first, so none of them confirms
        ///   anything; what is done is announced again.
        mutating func doneAnswered(isPublished: Bool) {
            guard !announcedDone.isEmpty else { return }
            let number = announcedDone.removeFirst()
            guard isPublished else { return confirmNoReports() }
            reported.remove(contentsOf: 0..<number + 1)
            remadeReports.remove(contentsOf: 0..<number + 1)
            if number >= 0, isFormerReported { formerOpen = nil }
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
