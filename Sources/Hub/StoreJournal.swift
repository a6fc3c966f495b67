import ButtonModel

/// A cursor that may be acknowledged to its button once it is on the disk.
struct Acknowledgement: Hashable, Sendable {
    var button: ButtonID
    var cursor: EventCursor
}

/// Decides when events may be acknowledged to their buttons, and what happens while the store cannot be written.
///
/// The order of its effects is what promises P1 and P2 rest on: a record is made before anything acts on it, and a cursor is
/// acknowledged only after a sync that was requested after its record has succeeded.
///
/// Changes that the database could not record are part of the next record. After a fault, the journal requests records by
/// itself, with a delay that doubles up to a minute. It holds acknowledgements back until a sync succeeds that was requested
/// after the fault.
struct StoreJournal: Sendable {
    enum Effect: Hashable, Sendable {
        /// Record these changes in one transaction, together with changes that could not be recorded before. The token is
        /// `nil` for a record that no sync follows.
        case record(RecordToken?, [StoreChange])
        /// Sync everything that was recorded up to now.
        case sync(RecordToken)
        /// The cursor is on the disk, so the button may forget the events up to it.
        case acknowledge(Acknowledgement)
        /// The store has a new or different fault; a sentence for users.
        case faulted(String)
        /// Everything that was recorded is on the disk.
        case mended
        /// A reserve that was missing has been created.
        case reserveMade
        /// The record ring, which was missing, has been created.
        case ringMade
        /// True if presses can be recorded at all. While they cannot, buttons have to keep them.
        case canRecord(Bool)
        /// Call `retry` at this time.
        case setTimer(Instant)
        case cancelTimer
    }

    /// The delays between attempts to record changes that could not be recorded.
    static let retryDelays = Duration.seconds(1)...Duration.seconds(60)
    /// The delays between attempts to create a missing reserve or ring while the database can record.
    static let reserveDelays = Duration.seconds(60)...Duration.seconds(3600)

    /// Why the store cannot be written; `nil` if it can. A sentence for users.
    private(set) var fault: String? { didSet { hasChanged = true } }
    private var hasChanged = false
    /// Why the latest record failed, without the consequence that `fault` adds.
    private var reason: String?
    /// Why a reserve is missing; `nil` if none is. A sentence for users.
    private(set) var reserveFault: String? { didSet { hasChanged = true } }
    /// Why the record ring is missing; `nil` if it is not. A sentence for users.
    private(set) var ringFault: String? { didSet { hasChanged = true } }
    /// True if the last failed record is in the memory of the process only (`RecordRefuge.nowhere`).
    private(set) var isRecordLost = false
    /// True if all records are in the database or in the reserve on the disk, so that they survive a power cut.
    var isRecordOnDisk: Bool { refuge == nil || refuge == .disk }
    /// The cursors of recorded events, by the token of the sync that has to succeed before they are acknowledged.
    private(set) var awaitingSync: [RecordToken: Acknowledgement] = [:]
    /// The cursors to acknowledge when the store is mended.
    private(set) var heldBack: [ButtonID: EventCursor] = [:]
    /// The latest record or sync that failed. A sync that was requested before it does not prove that the record reached
    /// the disk.
    private var latestFault: RecordToken?
    private var latestToken = RecordToken(rawValue: 0)
    /// Where the changes are that the database could not record; `nil` if there are none.
    private var refuge: RecordRefuge?
    private var backOff = BackOff(StoreJournal.retryDelays)
    private var reserveBackOff = BackOff(StoreJournal.reserveDelays)
    /// True if `retry` is to be called.
    private(set) var isRetryScheduled = false
    #if DEBUG
        /// Runs that were recorded as started and not as ended.
        private var recordedRuns: Set<UInt64>
        /// The cursors of recorded events that no sync has brought to the disk yet, by the token of their record.
        private(set) var unsynced: [(token: RecordToken, events: Acknowledgement)] = []
        /// The latest record with a token that failed and is not on the disk.
        private var latestLostToken: RecordToken?
        /// The latest record or sync that failed; `nil` if a sync that was requested after it has succeeded.
        private var latestFailure: RecordToken?
    #endif

    /// - Parameters:
    ///   - heldBack: the cursors of events that only a reserve contained when the process started.
    ///   - runs: the ids of the stored runs.
    init(heldBack: [ButtonID: EventCursor] = [:], runs: [UInt64] = []) {
        self.heldBack = heldBack
        #if DEBUG
            recordedRuns = Set(runs)
        #endif
    }

    /// True if something that the metrics show may have changed since the last call.
    mutating func takeHasChanged() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    /// Records changes without a sync.
    mutating func record(_ changes: [StoreChange], as token: RecordToken?) -> Effect {
        if let token { latestToken = max(latestToken, token) }
        #if DEBUG
            for change in changes {
                if case .runStarted(let run) = change { recordedRuns.insert(run.id) }
                if case .runEnded(let run) = change { recordedRuns.remove(run) }
            }
        #endif
        return .record(token, changes)
    }

    /// Syncs everything that was recorded up to now.
    ///
    /// - Parameters:
    ///   - token: the token of the record, or a token that no record has.
    ///   - acknowledgement: what may be acknowledged when the sync has succeeded; its record must have been made.
    mutating func sync(_ token: RecordToken, acknowledging acknowledgement: Acknowledgement? = nil) -> Effect {
        latestToken = max(latestToken, token)
        if let acknowledgement { awaitingSync[token] = acknowledgement }
        return .sync(token)
    }

    /// The sync has ended.
    mutating func synced(_ token: RecordToken, _ success: Bool, at now: Instant) -> [Effect] {
        guard success else {
            // A failed sync does not change that an earlier record is in the memory of the process only. The reason why
            // that record failed helps more than the news that a sync fails, too.
            return recordFailed(
                token, reason ?? "The disk does not accept the state directory's data (sync failed)",
                isRecordLost ? .nowhere : .memory, at: now)
        }
        #if DEBUG
            unsynced.removeAll { $0.token <= token }
            if let latestFailure, token > latestFailure { self.latestFailure = nil }
        #endif
        var effects: [Effect] = []
        if let latestFault, token > latestFault { effects = mended(at: now) }
        if let acknowledgement = awaitingSync.removeValue(forKey: token) {
            effects.append(.acknowledge(acknowledgement))
        }
        return effects
    }

    /// True if the record with this token would survive a power cut. A sync of it has to have succeeded before.
    func isOnDisk(_ token: RecordToken) -> Bool {
        refuge == nil || refuge == .disk || latestFault.map { token < $0 } ?? true
    }

    /// The database could not record changes. Unless they are in the reserve on the disk, the acknowledgement of their events
    /// is held back, so that the button keeps the events until the store is mended.
    ///
    /// - Parameters:
    ///   - token: `nil` for a record without a token, which is the latest one.
    ///   - refuge: the place where the changes are instead.
    mutating func recordFailed(
        _ token: RecordToken?, _ reason: String, _ refuge: RecordRefuge, at now: Instant
    ) -> [Effect] {
        var effects: [Effect] = []
        if refuge != .disk, let token, let acknowledgement = awaitingSync.removeValue(forKey: token) {
            heldBack[acknowledgement.button, default: acknowledgement.cursor].advance(to: acknowledgement.cursor)
        }
        #if DEBUG
            if refuge != .disk, let token { latestLostToken = token }
        #endif
        let fault = "\(reason); \(refuge.consequence)"
        if self.fault != fault { effects.append(.faulted(fault)) }
        // A timer for a missing reserve may expire much later than a timer for this fault should.
        let isNew = latestFault == nil
        (self.reason, self.fault) = (reason, fault)
        isRecordLost = refuge == .nowhere
        self.refuge = refuge
        // Failures may arrive out of order: a sync fails some time after the record that was made last.
        let failed = token ?? latestToken
        latestFault = max(latestFault ?? failed, failed)
        #if DEBUG
            latestFailure = max(latestFailure ?? failed, failed)
        #endif
        effects.append(.canRecord(refuge != .nowhere))
        if isNew || !isRetryScheduled {
            isRetryScheduled = true
            effects.append(.setTimer(now + backOff.next()))
        }
        return effects
    }

    /// A reserve could not be created, or has been created. `StoreDisk` tries again with each record that `retry` requests.
    ///
    /// - Parameter reason: a sentence for users; `nil` if no reserve is missing.
    mutating func reserveChanged(_ reason: String?, at now: Instant) -> [Effect] {
        let before = reserveFault
        reserveFault = reason.map { "\($0); until then a reserve for presses on a full disk is missing" }
        return reserveFault == before ? [] : missingFilesChanged(reserveFault, orElse: .reserveMade, at: now)
    }

    /// The record ring could not be created, or has been created. Presses then wait for the transaction of their record.
    ///
    /// - Parameter reason: a sentence for users; `nil` if the ring is not missing.
    mutating func ringChanged(_ reason: String?, at now: Instant) -> [Effect] {
        let before = ringFault
        ringFault = reason.map { "\($0); until then every press waits for the disk of the state directory" }
        return ringFault == before ? [] : missingFilesChanged(ringFault, orElse: .ringMade, at: now)
    }

    /// - Parameters:
    ///   - missing: the new fault of a reserve or of the ring; `nil` if it was created.
    ///   - made: the effect that says that it was created.
    private mutating func missingFilesChanged(
        _ missing: String?, orElse made: Effect, at now: Instant
    ) -> [Effect] {
        if missingFiles.isEmpty { reserveBackOff.reset() }
        // While the store has a fault, that fault is reported, and `retry` is called more often than for a missing file.
        guard fault == nil else { return [] }
        if let missing { return [.faulted(missing)] + (isRetryScheduled ? [] : [scheduleReserve(at: now)]) }
        guard missingFiles.isEmpty else { return [made] }
        isRetryScheduled = false
        return [.cancelTimer, made]
    }

    /// The faults of a reserve and of the ring.
    private var missingFiles: [String] { [reserveFault, ringFault].compactMap(\.self) }

    private mutating func scheduleReserve(at now: Instant) -> Effect {
        isRetryScheduled = true
        return .setTimer(now + reserveBackOff.next())
    }

    /// The timer has expired. An empty record makes the store record earlier changes and create a missing reserve or ring.
    mutating func retry(as token: RecordToken, at now: Instant) -> [Effect] {
        isRetryScheduled = false
        guard fault == nil else { return [record([], as: token), sync(token)] }
        return [record([], as: nil), scheduleReserve(at: now)]
    }

    /// A sync that was requested after the latest fault has succeeded.
    private mutating func mended(at now: Instant) -> [Effect] {
        (reason, fault) = (nil, nil)
        isRecordLost = false
        refuge = nil
        latestFault = nil
        backOff.reset()
        isRetryScheduled = false
        let missing = missingFiles.map { Effect.faulted($0) }
        let acknowledged = heldBack.sorted { $0.key < $1.key }
        heldBack = [:]
        return (missing.isEmpty ? [.cancelTimer, .mended] : [scheduleReserve(at: now), .mended] + missing)
            + acknowledged.map { .acknowledge(Acknowledgement(button: $0.key, cursor: $0.value)) } + [.canRecord(true)]
    }

    /// Forgets a removed button. Its cursors do not apply to a later pairing.
    mutating func forget(_ button: ButtonID) {
        heldBack[button] = nil
        awaitingSync = awaitingSync.filter { $0.value.button != button }
        #if DEBUG
            unsynced.removeAll { $0.events.button == button }
        #endif
    }

    #if DEBUG
        /// Notes that the record with this token contains events of a button up to a cursor.
        mutating func recorded(_ events: Acknowledgement, as token: RecordToken) { unsynced.append((token, events)) }

        /// True if the store has this run.
        func hasRecord(ofRun run: UInt64) -> Bool { recordedRuns.contains(run) }
    #endif

    /// A sentence for each inconsistency in the journal's state.
    func problems() -> [String] {
        var problems: [String] = []
        for token in awaitingSync.keys.sorted() where token > latestToken {
            problems.append("an event waits for sync \(token.rawValue), which was never requested")
        }
        #if DEBUG
            if fault == nil, let latestFailure {
                problems.append(
                    "record \(latestFailure.rawValue) failed, no later sync has succeeded, and the store has no fault")
            }
            if let latestLostToken, awaitingSync[latestLostToken] != nil {
                problems.append("an event waits for sync \(latestLostToken.rawValue), whose record has failed")
            }
        #endif
        if fault == nil, latestFault != nil { problems.append("a record failed, and the store has no fault") }
        if fault != nil, latestFault == nil { problems.append("the store has a fault, and no record failed") }
        if isRetryScheduled, fault == nil, missingFiles.isEmpty {
            problems.append("a record is to be tried again without a fault")
        }
        if !isRetryScheduled, fault == nil, !missingFiles.isEmpty {
            problems.append("there is no reserve or no ring, and it is not tried again")
        }
        return problems
    }
}
