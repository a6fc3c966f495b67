import Glibc

/// The processors on which the processes of a measurement run.
///
/// Waking a process on a processor that sleeps takes longer than waking it on one that is awake, and Linux chooses the processor
/// anew for each start. The same process between was thus measured with 43 µs in one run and with 87 µs in the next. If the
/// processes that are compared have one processor to themselves, and the broker and the subscriber another, the messages of all
/// take the same way.
enum BenchProcessors {
    /// The processor of the processes that are compared, and that of all others; `nil` if this process may use only one.
    static let pair: (compared: Int, others: Int)? = {
        var set = cpu_set_t()
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else { return nil }
        let numbers = withUnsafeBytes(of: set) { octets in
            (0..<octets.count * 8).filter { octets[$0 / 8] & 1 << ($0 % 8) != 0 }
        }
        guard let first = numbers.first, let last = numbers.last, first != last else { return nil }
        return (compared: last, others: first)
    }()

    /// Limits this thread and the processes that it starts from now on to a processor.
    static func use(_ processor: Int) {
        var set = cpu_set_t()
        withUnsafeMutableBytes(of: &set) { $0[processor / 8] = 1 << (processor % 8) }
        sched_setaffinity(0, MemoryLayout<cpu_set_t>.size, &set)
    }
}
