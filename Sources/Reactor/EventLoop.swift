import CLinux
import Glibc
import Synchronization

/// One thread, one epoll: descriptors, timers, signals, and the results of helper threads.
///
/// The thread sleeps until a descriptor has something to say. There is no tick: all timers share one timerfd, which
/// is armed for the earliest, and `epoll_wait` never has a timeout: where a timer is due already it does not wait at all.
///
/// Descriptors that are watched with `isFirst` are served before all others of a turn, and again where the others take
/// long, so that a press waits for one handler at most. The order of the others rotates with each turn.
///
/// An event carries its descriptor's number and a generation that changes with every `watch` and `cancel`. Events
/// are fetched in batches; one already fetched for a descriptor that an earlier handler of the batch closed is
/// thereby not taken for the descriptor's next owner.
@ReactorActor
public final class EventLoop {
    public static let shared = EventLoop()

    private struct Slot {
        var generation: UInt32 = 0
        var interest: Interest = []
        /// Whether epoll knows the descriptor: it reports hangups unasked, so a descriptor without interest is taken out.
        var isRegistered = false
        var isFirst = false
        var handler: (@ReactorActor (Interest) -> Void)?
    }

    /// How many events one `epoll_wait` fetches.
    private static let batchSize = 64
    /// Nanoseconds after which those that are first are asked again.
    private static let slice: Int64 = 1_000_000

    /// Indexed by descriptor. Generations outlive a run.
    private var slots: [Slot] = []
    private var epoll: Int32 = -1
    private var isStopping = false
    private var status: Int32 = 0
    /// Counts the returns of `epoll_wait`.
    public private(set) var turn: UInt64 = 0
    /// Descriptors that are watched as first.
    private var first: [Int32] = []
    /// When they were served last.
    private var firstServed: Int64 = 0

    private let clock: clockid_t
    private var timers = TimerHeap()
    private var timersSet: UInt64 = 0
    private var timerDescriptor: Int32 = -1
    /// What the timerfd is armed for; `.max` while it is not.
    private var armedDeadline = Int64.max
    /// The timerfd said so in this turn.
    private var isTimerExpired = false

    /// Descriptors of the loop's own, closed at the end of the run.
    private var ownDescriptors: [Int32] = []

    private init() {
        // Some containers and very old kernels have no timerfd on CLOCK_BOOTTIME. One clock for reading and waiting.
        let probe = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC))
        clock = probe >= 0 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC
        if probe >= 0 { close(probe) }
    }

    // MARK: Running

    /// Runs the loop on the calling thread until `stop`: `start` runs first, on the reactor.
    ///
    /// SIGPIPE is ignored from here on. May be called again after it returned; while another thread runs the loop it
    /// waits. What is still watched and set when it ends is dropped: descriptors stay open, handlers are released, and
    /// the results of unfinished helpers are lost.
    ///
    /// - Returns: the status given to `stop`.
    public nonisolated static func run(_ start: @escaping @ReactorActor () -> Void) -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        return ReactorActor.shared.executor.own {
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

    /// Ends `run` after the handler that calls it; no other handler is called after that.
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
        first = []
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

    /// Calls `handler` with what the descriptor is ready for, for as long as it is (level-triggered).
    ///
    /// A descriptor that cannot be watched (a regular file, one that is watched already, the system's limit of watches)
    /// is reported once as `.hangup`. Where somebody closed a watched descriptor before its watch was cancelled, and the
    /// number came back, the new watch has it.
    ///
    /// - Parameter isFirst: served before all others; for the radio.
    public func watch(
        _ descriptor: Int32, _ interest: Interest, isFirst: Bool = false,
        _ handler: @escaping @ReactorActor (Interest) -> Void
    ) -> Watch {
        precondition(descriptor >= 0, "not a descriptor")
        let index = Int(descriptor)
        while slots.count <= index { slots.append(Slot()) }
        slots[index].generation &+= 1
        slots[index].interest = []
        slots[index].isRegistered = false
        slots[index].isFirst = isFirst
        slots[index].handler = handler
        first.removeAll { $0 == descriptor }
        if isFirst { first.append(descriptor) }
        let watch = Watch(loop: self, descriptor: descriptor, generation: slots[index].generation)
        set(interest, of: watch)
        return watch
    }

    func set(_ interest: Interest, of watch: Watch) {
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
        // EBADF when a C library closed it first: harmless.
        if slots[index].isRegistered { epoll_ctl(epoll, EPOLL_CTL_DEL, watch.descriptor, nil) }
        slots[index].generation &+= 1
        slots[index].isRegistered = false
        slots[index].handler = nil
        first.removeAll { $0 == watch.descriptor }
    }

    private func deliver(_ events: Slice<UnsafeMutableBufferPointer<epoll_event>>) {
        for event in events where !isStopping && isFirst(event) { deliver(event) }
        // The batch may have been too small for all that is ready.
        if events.count == Self.batchSize { askFirst() }
        firstServed = nanosecondsSinceBoot
        // epoll has the same descriptors at the front each time: one that uses up a budget would leave the rest none.
        let start = events.isEmpty ? 0 : Int(turn % UInt64(events.count))
        for offset in 0..<events.count {
            let event = events[events.startIndex + (start + offset) % events.count]
            guard !isStopping, !isFirst(event) else { continue }
            deliver(event)
            serveFirst()
        }
    }

    private func isFirst(_ event: epoll_event) -> Bool { slots[Int(Int32(truncatingIfNeeded: event.data.u64))].isFirst }

    /// To be called between two handlers of others.
    private func serveFirst() {
        guard !first.isEmpty else { return }
        let now = nanosecondsSinceBoot
        guard now - firstServed >= Self.slice else { return }
        firstServed = now
        askFirst()
    }

    private func askFirst() {
        for descriptor in first where !isStopping {
            let slot = slots[Int(descriptor)]
            // What poll and epoll tell has the same numbers.
            var state = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: slot.interest.rawValue), revents: 0)
            guard !slot.interest.isEmpty, poll(&state, 1, 0) > 0 else { continue }
            deliver(
                Interest(rawValue: UInt32(UInt16(bitPattern: state.revents))), to: descriptor,
                generation: slot.generation)
        }
    }

    private func deliver(_ event: epoll_event) {
        let key = event.data.u64
        deliver(
            Interest(rawValue: event.events), to: Int32(truncatingIfNeeded: key),
            generation: UInt32(truncatingIfNeeded: key >> 32))
    }

    private func deliver(_ interest: Interest, to descriptor: Int32, generation: UInt32) {
        let slot = slots[Int(descriptor)]
        guard slot.generation == generation, let handler = slot.handler else { return }
        handler(interest)
    }

    // MARK: Timers

    /// CLOCK_BOOTTIME, read now: it counts the time the system is suspended.
    public var nanosecondsSinceBoot: Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// A timer that is not set yet. The loop holds it while it is set.
    public func timer(_ handler: @escaping @ReactorActor () -> Void) -> Timer {
        Timer(loop: self, handler: handler)
    }

    /// Calls `body` once, on the loop's next turn: for what must not happen inside the call that decides it.
    public func soon(_ body: @escaping @ReactorActor () -> Void) {
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
        // All zero disarms it; a deadline at or before the start of the clock is due at once.
        var time = itimerspec()
        if deadline != .max { time.it_value = timespec(nanoseconds: max(deadline, 1)) }
        timerfd_settime(timerDescriptor, Int32(TFD_TIMER_ABSTIME), &time, nil)
    }

    private func fireTimers() {
        isTimerExpired = false
        let now = nanosecondsSinceBoot
        // First all that are due, then the handlers: one that sets a timer into the past waits for the next turn.
        var due: [Timer] = []
        while let timer = timers.earliest, timer.deadline <= now {
            timers.remove(timer)
            timer.isDue = true
            due.append(timer)
        }
        for timer in due where timer.isDue && !isStopping {
            timer.isDue = false
            timer.handler()
            serveFirst()
        }
    }

    /// Calls `handler` when somebody sets the wall clock, and after a suspend.
    public func onWallClockStep(_ handler: @escaping @ReactorActor () -> Void) {
        let descriptor = own(
            timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC)), "timerfd_create")
        // Armed for the end of time: only its cancellation is of interest.
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

    /// Blocks the signals in the calling thread, and so in every thread made later, and reads them on the loop.
    ///
    /// To be called before the first `offload`. They stay blocked when the loop ends.
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

    /// Runs `work` on a helper thread that lives only for it, then `done` on the reactor.
    ///
    /// For what blocks and cannot be asked not to: resolving names, flushing to disk. Where the system has no thread
    /// to give, the work is done in place.
    public func offload<T: Sendable>(
        _ work: @escaping @Sendable () -> T, then done: @escaping @ReactorActor (T) -> Void
    ) {
        let executor = ReactorActor.shared.executor
        let run = executor.run.load(ordering: .relaxed)
        let helper = Helper {
            let result = work()
            executor.post(.call(run: run) { done(result) })
        }
        if !helper.start() { helper.body() }
    }

    private func post(_ body: @escaping @ReactorActor () -> Void) {
        let executor = ReactorActor.shared.executor
        executor.post(.call(run: executor.run.load(ordering: .relaxed), body))
    }
}

extension timespec {
    init(nanoseconds: Int64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
