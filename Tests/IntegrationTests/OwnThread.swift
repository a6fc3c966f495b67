import ReactorTestSupport
import Testing

/// Runs each test of a suite on a thread of its own, because these tests wait for programs and would block the threads
/// of the cooperative pool, which has one per processor.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    /// How many tests run at once. Each test has up to five programs, which share the processors and have deadlines.
    private static let places = Places(4)

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.places.take()
        let result: Result<Void, any Error>
        do {
            result = .success(try await withTaskExecutorPreference(ThreadExecutor(), operation: function))
        } catch {
            result = .failure(error)
        }
        await Self.places.giveBack()
        try result.get()
    }
}

extension Trait where Self == OwnThread {
    static var ownThread: Self { Self() }
}

/// A limit on the number of running tests; waiting tests start in the order in which they asked.
private actor Places {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
