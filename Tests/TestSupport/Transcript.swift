public import ButtonModel
public import Testing

/// What the machines of this project have in common. It exists for tests only: production code names its
/// machines, and each test target conforms its own in one line.
public protocol StateMachine {
    associatedtype Input
    associatedtype Effect
    mutating func handle(_ input: Input, at now: Instant) -> [Effect]
}

/// A conversation with one machine: what came in, what it answered, and the time, wound by hand.
public struct Transcript<Machine: StateMachine> where Machine.Effect: Equatable {
    public private(set) var machine: Machine
    public private(set) var now: Instant

    public init(_ machine: Machine, at start: Instant = Instant(sinceBoot: .zero)) {
        self.machine = machine
        now = start
    }

    public mutating func wait(_ duration: Duration) { now = now + duration }

    /// What has to happen first: nothing is asserted. The effects are for those who want to look closer than `==`.
    @discardableResult
    public mutating func given(_ input: Machine.Input) -> [Machine.Effect] {
        machine.handle(input, at: now)
    }

    /// Without effects nothing is expected to follow.
    public mutating func when(
        _ input: Machine.Input, expect effects: Machine.Effect...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(machine.handle(input, at: now) == effects, sourceLocation: sourceLocation)
    }
}
