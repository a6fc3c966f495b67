package import ButtonModel

/// Gives a `Hub` its inputs one at a time. The daemon, the tests' houses and the benchmarks use it, so all of them keep the
/// same order.
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
    /// True if `goOn` is the next input, before those that wait.
    private var hasToGoOn = false
    /// The time of the present input, including its `goOn`.
    private var time = Instant(nanoseconds: 0)

    package init(_ hub: Hub) { self.hub = hub }

    /// Adds an input, to be handled after those that wait.
    package mutating func add(_ input: Hub.Input) { inputs.append(input) }

    /// Handles the next input; `nil` when no input waits.
    package mutating func next(at now: Instant) -> Turn? {
        if hasToGoOn {
            // `goOn` is the rest of the input before, and its time is that input's time, also in a replay.
            return turn(.goOn)
        }
        guard position < inputs.count else {
            inputs.removeAll(keepingCapacity: true)
            position = 0
            return nil
        }
        let input = inputs[position]
        position += 1
        time = now
        return turn(input)
    }

    private mutating func turn(_ input: Hub.Input) -> Turn {
        let effects = hub.handle(input, at: time)
        hasToGoOn = hub.isIncomplete
        return Turn(input: input, at: time, effects: effects)
    }
}
