package import ButtonModel

/// Gives a `Hub` its inputs one at a time, and remembers which records failed while the effects of one input are carried
/// out. The daemon, the tests' houses and the benchmarks use it, so all of them keep the same order.
///
/// The owner adds inputs with `add`, calls `next` until it returns `nil`, and carries out the effects of each `Turn` in
/// order before it calls `next` again. An input that is added meanwhile is handled in a later turn.
package struct HubRunner: Sendable {
    /// An input and the effects that the hub answered with.
    package struct Turn: Sendable {
        package var input: Hub.Input
        package var at: Instant
        package var effects: [Hub.Effect]
    }

    package var hub: Hub
    /// The inputs of the present run of turns. Those before `position` have been handled.
    private var inputs: [Hub.Input] = []
    private var position = 0
    /// The time of the present input, including its `goOn`.
    private var time = Instant(nanoseconds: 0)
    /// The records of the present input, including its `goOn`, that could not be written.
    private var failedRecords: Set<RecordToken> = []

    package init(_ hub: Hub) { self.hub = hub }

    /// Adds an input, to be handled after those that wait.
    package mutating func add(_ input: Hub.Input) { inputs.append(input) }

    /// Handles the next input; `nil` when no input waits.
    package mutating func next(at now: Instant) -> Turn? {
        guard position < inputs.count else {
            inputs.removeAll(keepingCapacity: true)
            position = 0
            return nil
        }
        let input = inputs[position]
        position += 1
        // `goOn` is the rest of the input before: its sync is for that input's record, and its time is that input's time, also
        // in a replay.
        if input != .goOn {
            failedRecords.removeAll()
            time = now
        }
        let effects = hub.handle(input, at: time)
        if effects.last == .goOn { inputs.insert(.goOn, at: position) }
        return Turn(input: input, at: time, effects: effects)
    }

    /// Adds the input `recordFailed`, for an effect `record` that could not be carried out.
    ///
    /// - Parameters:
    ///   - token: the token of the effect, if it has one.
    ///   - refuge: where the changes are instead. A sync of the reserve on the disk is meaningful; any other sync of
    ///     this turn proves nothing about the record, so `isSyncUseful` refuses it.
    package mutating func recordFailed(_ token: RecordToken?, _ reason: String, _ refuge: RecordRefuge) {
        if refuge != .disk, let token { failedRecords.insert(token) }
        add(.recordFailed(token, reason, refuge))
    }

    /// True if an effect `sync` is to be carried out; false when its record failed in the same turn. The hub learns from
    /// `recordFailed` that nothing of this record may be acknowledged.
    package func isSyncUseful(_ token: RecordToken) -> Bool { !failedRecords.contains(token) }
}
