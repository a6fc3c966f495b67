import CLinux

/// The processors on which the processes of a measurement run.
///
/// Waking a process on a processor that sleeps takes longer than waking it on one that is awake, and Linux chooses the processor
/// anew for each start. The same process between was thus measured with 43 µs in one run and with 87 µs in the next. If the
/// processes that are compared have one processor to themselves, and the broker and the subscriber another, the messages of all
/// take the same way.
enum BenchProcessors {
    /// The processor of the processes that are compared, and that of all others; `nil` if this process may use only one.
    static let pair: (compared: Int, others: Int)? = {
        var (lowest, highest): (Int32, Int32) = (0, 0)
        guard linux_processors(&lowest, &highest) == 0, lowest != highest else { return nil }
        return (compared: Int(highest), others: Int(lowest))
    }()

    /// Limits this thread and the processes that it starts from now on to a processor.
    static func use(_ processor: Int) { linux_use_processor(Int32(processor)) }
}
