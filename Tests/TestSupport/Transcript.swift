public import ButtonModel
public import Testing

/// The interface that the project's state machines share. It exists only for tests: production code uses the concrete
/// types, and each test target conforms the types that it tests.
public protocol StateMachine {
    associatedtype Input
    associatedtype Effect
    mutating func handle(_ input: Input, at now: Instant) -> [Effect]
    /// Statements about the machine's state between two inputs that are false. Machines that check themselves have it in
    /// debug builds.
    func problems() -> [String]
    /// What the machine knows of the effects of an input before it handles it: a check of the effects; `nil` if nothing.
    mutating func expectation(of input: Input, at now: Instant) -> (([Effect]) -> Bool)?
}

extension StateMachine {
    public func problems() -> [String] { [] }
    public mutating func expectation(of input: Input, at now: Instant) -> (([Effect]) -> Bool)? { nil }

    /// Feeds an input, and records an issue for each problem that the machine then has, and for effects that are not those
    /// that it knew in advance.
    public mutating func checked(
        _ input: Input, at now: Instant, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Effect] {
        let isExpected = expectation(of: input, at: now)
        let effects = handle(input, at: now)
        if let isExpected, !isExpected(effects) {
            Issue.record("\(input): \(effects) are not what was known before", sourceLocation: sourceLocation)
        }
        for problem in problems() { Issue.record("after \(input): \(problem)", sourceLocation: sourceLocation) }
        return effects
    }
}

/// What a test expects if no effect follows. Each `when` has to say what follows, so that a test does not expect nothing
/// because its author forgot to say what it expects.
public enum NoEffect: Sendable {
    case nothing
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
        machine.checked(input, at: now)
    }

    /// Feeds an input and expects exactly these effects.
    public mutating func when(
        _ input: Machine.Input, expect effect: Machine.Effect, _ others: Machine.Effect...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let effects = machine.checked(input, at: now, sourceLocation: sourceLocation)
        #expect(effects == [effect] + others, sourceLocation: sourceLocation)
    }

    /// Feeds an input and expects that no effect follows.
    public mutating func when(
        _ input: Machine.Input, expect nothing: NoEffect, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let effects = machine.checked(input, at: now, sourceLocation: sourceLocation)
        #expect(effects == [], sourceLocation: sourceLocation)
    }
}
