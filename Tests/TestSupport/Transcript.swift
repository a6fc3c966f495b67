public import ButtonModel
public import Testing

/// What the state machines of this project have in common. It exists for tests only: production code uses the concrete
/// types, and each test target conforms those it tests in one line.
public protocol StateMachine {
    associatedtype Input
    associatedtype Effect
    mutating func handle(_ input: Input, at now: Instant) -> [Effect]
}

/// Drives one state machine: feeds it inputs, compares its effects, and keeps a clock that only `wait` moves.
public struct Transcript<Machine: StateMachine> where Machine.Effect: Equatable {
    public private(set) var machine: Machine
    public private(set) var now: Instant

    public init(_ machine: Machine, at start: Instant = Instant(sinceBoot: .zero)) {
        self.machine = machine
        now = start
    }

    public mutating func wait(_ duration: Duration) { now = now + duration }

    /// Feeds an input and asserts nothing. The effects are returned for tests that need more than `==`.
    @discardableResult
    public mutating func given(_ input: Machine.Input) -> [Machine.Effect] {
        machine.handle(input, at: now)
    }

    /// Feeds an input and expects exactly these effects; without `effects` it expects that none follow.
    public mutating func when(
        _ input: Machine.Input, expect effects: Machine.Effect...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(machine.handle(input, at: now) == effects, sourceLocation: sourceLocation)
    }
}
