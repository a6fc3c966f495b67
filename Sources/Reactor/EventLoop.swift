import CLinux
import Glibc
import Synchronization

/// A single-threaded event loop over epoll: descriptors, timers, signals, and the results of helper threads.
///
/// The thread sleeps until a descriptor is ready. There is no tick: all timers share one timerfd, which is armed for
/// the earliest deadline. `epoll_wait` has no timeout, and does not block if a timer is already due.
///
/// Descriptors that are watched with `isPriority` are served first in each turn, and again after each 1 ms of other
/// handlers, so that a button press waits for one handler at most. The order of the others rotates with each turn.
///
/// Each epoll event carries the descriptor's number and a generation that changes with every `watch` and `cancel`.
/// Events are fetched in batches, and an earlier handler of the batch may close a descriptor. The generation
/// prevents that its event is then delivered to the next owner of that number.
@ReactorActor
public final class EventLoop {
    public static let shared = EventLoop()

    private struct Slot {
        var generation: UInt32 = 0
        var interest: IOEvents = []
        /// True if epoll has the descriptor. With an empty interest it has not, because epoll always reports hangups.
        var isRegistered = false
        var isPriority = false
        var handler: (@ReactorActor (IOEvents) -> Void)?
    }

    /// The maximum number of events that one `epoll_wait` returns.
    private static let batchSize = 64
    /// Nanoseconds of other handlers' work after which `priorityDescriptors` are polled again.
    private static let slice: Int64 = 1_000_000

    /// Indexed by descriptor. They are kept between runs, so that generations are not reused.
    private var slots: [Slot] = []
    private var epoll: Int32 = -1
    private var isStopping = false
    private var status: Int32 = 0
    /// The number of times `epoll_wait` has returned.
    public private(set) var turn: UInt64 = 0
    /// The descriptors that are watched with `isPriority`.
    private var priorityDescriptors: [Int32] = []
    /// When `priorityDescriptors` were last served, in nanoseconds since boot.
    private var priorityServedAt: Int64 = 0

    private let clock: clockid_t
    private var timers = TimerHeap()
    private var timersSet: UInt64 = 0
    /// Nanoseconds by which the loop's clock is ahead of the kernel's. Not zero only after a test has called `advanceClock`.
    private var clockOffset: Int64 = 0
    private var timerDescriptor: Int32 = -1
    /// The deadline for which the timerfd is armed; `.max` if it is disarmed.
    private var armedDeadline = Int64.max
    /// True if the timerfd expired in this turn.
    private var isTimerExpired = false

    /// The callbacks of `offload` whose work is not finished. They are kept between runs, because work that outlives its run
    /// may use what its callback keeps alive.
    private var callbacks: [UInt64: AnyObject] = [:]
    /// The number of calls of `offload`.
    private var offloads: UInt64 = 0

    /// Descriptors that the loop created, which it closes at the end of the run.
    private var ownDescriptors: [Int32] = []

    private init() {
        // Some containers and very old kernels have no timerfd on CLOCK_BOOTTIME. The loop reads the timerfd's clock.
        let probe = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC))
        clock = probe >= 0 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC
        if probe >= 0 { close(probe) }
    }

    // MARK: Running

    /// Runs the loop on the calling thread until `stop`. `start` is called first, on the reactor.
    ///
    /// SIGPIPE is ignored from then on. `run` may be called again after it has returned; while another thread runs the
    /// loop, the call waits. When the run ends, watches and timers are dropped: descriptors stay open, handlers are
    /// released, and the results of unfinished helpers are discarded.
    ///
    /// - Returns: the status given to `stop`.
    public nonisolated static func run(_ start: @escaping @ReactorActor () -> Void) -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        return ReactorActor.shared.executor.runAsOwner {
            ReactorActor.assumeIsolated { shared.run(start) }
        }
    }

    private func run(_ start: @ReactorActor () -> Void) -> Int32 {
        setUp()
        defer { tearDown() }
        start()
        let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: Self.batchSize)
        defer { events.deallocate() }
        while !isStopping {
            let isDue = timers.earliest.map { $0.deadline <= nanosecondsSinceBoot } ?? false
            if !isDue { armTimer() }
            let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), isDue ? 0 : -1)
            guard count >= 0 else {
                precondition(errno == EINTR, "epoll_wait: \(errno)")
                continue
            }
            turn &+= 1
            deliver(events.prefix(Int(count)))
            if isDue || isTimerExpired, !isStopping { fireTimers() }
        }
        return status
    }

    /// Ends `run` after the handler that calls it returns. No other handler is called after that.
    public func stop(status: Int32 = 0) {
        guard !isStopping else { return }
        isStopping = true
        self.status = status
        ReactorActor.shared.executor.run.wrappingAdd(1, ordering: .relaxed)
    }

    private func setUp() {
        isStopping = false
        isTimerExpired = false
        status = 0
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(epoll >= 0, "epoll_create1: \(errno)")
        let executor = ReactorActor.shared.executor
        _ = watch(executor.wakeUp, .read) { _ in executor.drain() }
        timerDescriptor = own(timerfd_create(clock, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC)), "timerfd_create")
        _ = watch(timerDescriptor, .read) { [unowned self] _ in
            var expirations: UInt64 = 0
            _ = read(timerDescriptor, &expirations, MemoryLayout<UInt64>.size)
            armedDeadline = .max
            isTimerExpired = true
        }
    }

    private func tearDown() {
        for index in slots.indices {
            slots[index].generation &+= 1
            slots[index].isRegistered = false
            slots[index].handler = nil
        }
        priorityDescriptors = []
        timers.removeAll()
        armedDeadline = .max
        for descriptor in ownDescriptors { close(descriptor) }
        ownDescriptors = []
        close(epoll)
        epoll = -1
    }

    private func own(_ descriptor: Int32, _ call: String) -> Int32 {
        precondition(descriptor >= 0, "\(call): \(errno)")
        ownDescriptors.append(descriptor)
        return descriptor
    }

    // MARK: Descriptors

    /// Calls `handler` with the events for which the descriptor is ready, as long as it is ready (level-triggered).
    ///
    /// A descriptor that cannot be watched (a regular file, a descriptor that is watched already, or the system's limit
    /// of watches) is reported once as `.hangup`. If a watched descriptor was closed before its watch was cancelled and
    /// its number was reused, the new watch replaces the old one.
    ///
    /// - Parameter isPriority: whether it is served before all other descriptors; for the radio.
    public func watch(
        _ descriptor: Int32, _ interest: IOEvents, isPriority: Bool = false,
        _ handler: @escaping @ReactorActor (IOEvents) -> Void
    ) -> Watch {
        precondition(descriptor >= 0, "not a descriptor")
        let index = Int(descriptor)
        while slots.count <= index { slots.append(Slot()) }
        slots[index].generation &+= 1
        slots[index].interest = []
        slots[index].isRegistered = false
        slots[index].isPriority = isPriority
        slots[index].handler = handler
        priorityDescriptors.removeAll { $0 == descriptor }
        if isPriority { priorityDescriptors.append(descriptor) }
        let watch = Watch(loop: self, descriptor: descriptor, generation: slots[index].generation)
        set(interest, of: watch)
        return watch
    }

    func set(_ interest: IOEvents, of watch: Watch) {
        let index = Int(watch.descriptor)
        guard slots[index].generation == watch.generation, slots[index].interest != interest else { return }
        slots[index].interest = interest
        let operation =
            interest.isEmpty ? EPOLL_CTL_DEL : slots[index].isRegistered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
        var event = epoll_event()
        event.events = interest.rawValue
        event.data.u64 = UInt64(watch.generation) << 32 | UInt64(watch.descriptor)
        if epoll_ctl(epoll, operation, watch.descriptor, &event) == 0 {
            slots[index].isRegistered = !interest.isEmpty
        } else if !interest.isEmpty {
            slots[index].isRegistered = false
            post { [unowned self] in deliver(.hangup, to: watch.descriptor, generation: watch.generation) }
        }
    }

    func cancel(_ watch: Watch) {
        let index = Int(watch.descriptor)
        guard slots[index].generation == watch.generation else { return }
        // This fails with EBADF if a C library closed the descriptor first, which does no harm.
        if slots[index].isRegistered { epoll_ctl(epoll, EPOLL_CTL_DEL, watch.descriptor, nil) }
        slots[index].generation &+= 1
        slots[index].isRegistered = false
        slots[index].handler = nil
        priorityDescriptors.removeAll { $0 == watch.descriptor }
    }

    private func deliver(_ events: Slice<UnsafeMutableBufferPointer<epoll_event>>) {
        for event in events where !isStopping && isFirst(event) { deliver(event) }
        // A full batch may have left out a priority descriptor that is ready.
        if events.count == Self.batchSize { pollPriority() }
        priorityServedAt = nanosecondsSinceBoot
        // epoll always returns the same descriptors first: without the rotation, they could use up their edge's budget.
        let start = events.isEmpty ? 0 : Int(turn % UInt64(events.count))
        for offset in 0..<events.count {
            let event = events[events.startIndex + (start + offset) % events.count]
            guard !isStopping, !isFirst(event) else { continue }
            deliver(event)
            servePriority()
        }
    }

    private func isFirst(_ event: epoll_event) -> Bool {
        slots[Int(Int32(truncatingIfNeeded: event.data.u64))].isPriority
    }

    /// Polls `priorityDescriptors` if they were last served more than a slice ago. Called between other handlers.
    private func servePriority() {
        guard !priorityDescriptors.isEmpty else { return }
        let now = nanosecondsSinceBoot
        guard now - priorityServedAt >= Self.slice else { return }
        priorityServedAt = now
        pollPriority()
    }

    private func pollPriority() {
        for descriptor in priorityDescriptors where !isStopping {
            let slot = slots[Int(descriptor)]
            // poll and epoll use the same values for these events.
            var state = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: slot.interest.rawValue), revents: 0)
            guard !slot.interest.isEmpty, poll(&state, 1, 0) > 0 else { continue }
            deliver(
                IOEvents(rawValue: UInt32(UInt16(bitPattern: state.revents))), to: descriptor,
                generation: slot.generation)
        }
    }

    private func deliver(_ event: epoll_event) {
        let key = event.data.u64
        deliver(
            IOEvents(rawValue: event.events), to: Int32(truncatingIfNeeded: key),
            generation: UInt32(truncatingIfNeeded: key >> 32))
    }

    private func deliver(_ interest: IOEvents, to descriptor: Int32, generation: UInt32) {
        let slot = slots[Int(descriptor)]
        guard slot.generation == generation, let handler = slot.handler else { return }
        handler(interest)
    }

    // MARK: Timers

    /// The time of CLOCK_BOOTTIME, which includes the time for which the system was suspended.
    public var nanosecondsSinceBoot: Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) + clockOffset
    }

    /// Advances the loop's clock, so that a test of a long wait does not take that long.
    ///
    /// Timers whose deadlines have passed fire on the next turn, after the descriptors that are ready by then.
    package func advanceClock(nanoseconds: Int64) {
        clockOffset += nanoseconds
        // The timerfd was armed for a time of the old clock, so it has to be armed again.
        armedDeadline = .min
    }

    /// A new timer, which is not set. The loop retains it while it is set.
    public func timer(_ handler: @escaping @ReactorActor () -> Void) -> Timer {
        Timer(loop: self, handler: handler)
    }

    /// Calls `body` once, on the loop's next turn, for callbacks that must not happen inside the call that causes them.
    public func onNextTurn(_ body: @escaping @ReactorActor () -> Void) {
        timer(body).set(at: 0)
    }

    func schedule(_ timer: Timer) {
        timersSet &+= 1
        timer.order = timersSet
        timers.insert(timer)
    }

    func unschedule(_ timer: Timer) { timers.remove(timer) }

    private func armTimer() {
        let deadline = timers.earliest?.deadline ?? .max
        guard deadline != armedDeadline else { return }
        armedDeadline = deadline
        // A value of zero disarms the timerfd, so a deadline at or before the start of the clock becomes 1 ns.
        var time = itimerspec()
        if deadline != .max { time.it_value = timespec(nanoseconds: max(deadline - clockOffset, 1)) }
        timerfd_settime(timerDescriptor, Int32(TFD_TIMER_ABSTIME), &time, nil)
    }

    private func fireTimers() {
        isTimerExpired = false
        let now = nanosecondsSinceBoot
        // All due timers are removed first, so a timer that a handler sets in the past waits for the next turn.
        var due: [Timer] = []
        while let timer = timers.earliest, timer.deadline <= now {
            timers.remove(timer)
            timer.isDue = true
            due.append(timer)
        }
        for timer in due where timer.isDue && !isStopping {
            timer.isDue = false
            timer.handler()
            servePriority()
        }
    }

    /// Calls `handler` when the wall clock is set, and after a suspend.
    public func onWallClockStep(_ handler: @escaping @ReactorActor () -> Void) {
        let descriptor = own(
            timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC)), "timerfd_create")
        // The timer never expires: setting the clock cancels it, and `read` then fails with ECANCELED.
        let arm = {
            var never = itimerspec()
            never.it_value.tv_sec = .max
            timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET), &never, nil)
        }
        _ = arm()
        _ = watch(descriptor, .read) { _ in
            var expirations: UInt64 = 0
            let isCancelled = read(descriptor, &expirations, MemoryLayout<UInt64>.size) < 0 && errno == ECANCELED
            _ = arm()
            if isCancelled { handler() }
        }
    }

    // MARK: Signals

    /// Blocks the signals in the calling thread, and so in every thread created later, and reads them on the loop.
    ///
    /// Must be called before the first `offload`. The signals stay blocked when the loop ends.
    public func onSignals(_ signals: [Int32], _ handler: @escaping @ReactorActor (Int32) -> Void) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let descriptor = own(signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC)), "signalfd")
        _ = watch(descriptor, .read) { _ in
            var info = signalfd_siginfo()
            while read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) == MemoryLayout<signalfd_siginfo>.size {
                handler(Int32(bitPattern: info.ssi_signo))
            }
        }
    }

    // MARK: Helper threads

    /// Runs `work` on a new helper thread, then `done` on the reactor.
    ///
    /// For calls that can only block, such as name resolution and flushing to disk. If no thread can be created, `work`
    /// runs on the loop's thread. When `done` is called, `work` has been released, with everything that only it had
    /// captured. `done` is released on the reactor when `work` has ended, even if the run has ended before, so that `work` may
    /// use what `done` keeps alive.
    public func offload<T: Sendable>(
        _ work: @escaping @Sendable () -> T, then done: @escaping @ReactorActor (T) -> Void
    ) {
        let executor = ReactorActor.shared.executor
        let run = executor.run.load(ordering: .relaxed)
        let work = Work(work)
        offloads += 1
        let number = offloads
        callbacks[number] = Callback(done)
        let helper = HelperThread {
            guard let result = work.run() else { return }
            executor.post(
                .completion {
                    let callback = Self.shared.callbacks.removeValue(forKey: number) as? Callback<T>
                    if run == executor.run.load(ordering: .relaxed) { callback?.body(result) }
                })
        }
        if !helper.start() { helper.body() }
    }

    private func post(_ body: @escaping @ReactorActor () -> Void) {
        let executor = ReactorActor.shared.executor
        executor.post(.call(run: executor.run.load(ordering: .relaxed), body))
    }
}

/// Work for a helper thread, which is released when it has run.
private final class Work<T: Sendable>: Sendable {
    private let body: Mutex<(@Sendable () -> T)?>

    init(_ body: @escaping @Sendable () -> T) { self.body = Mutex(body) }

    /// - Returns: `nil` if it has run before.
    func run() -> T? {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        return body?()
    }
}

/// The closure that the reactor calls with the result of a helper thread.
private final class Callback<T: Sendable>: Sendable {
    let body: @ReactorActor (T) -> Void

    init(_ body: @escaping @ReactorActor (T) -> Void) { self.body = body }
}

extension timespec {
    init(nanoseconds: Int64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
