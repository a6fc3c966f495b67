import ReactorTestSupport
import Testing

/// Runs each test of a suite on a thread made for it: these tests wait for programs, and would hold the threads of the
/// cooperative pool, of which there are as many as processors.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    /// How many tests run at once. Each of them has up to five programs, which share the processors and have to keep deadlines.
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

/// Places that are taken in the order of asking.
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
