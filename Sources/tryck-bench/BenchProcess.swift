import ButtonModel
import CommandSupport
import Edges
import Glibc
import Hub
import Platform
import Reactor
import Rules
import Simulator
import Synchronization

/// Measures the time from a button's packet to the program that a rule starts, through the hub and `ProcessEdge`.
/// In alternation, it measures the same program started by posix_spawn and waitpid alone, and the same line of shell
/// started by triggerhappy.
@ReactorActor
final class BenchProcess {
    private static let program = "/bin/true"
    private static let button = "bench"
    /// The nanoseconds for which the daemon pauses after the actions of a press.
    private static let pause: Int64 = 400_000

    private let loop: EventLoop
    private let processes: ProcessEdge
    private let rounds: Int
    private let finished: @ReactorActor (Result<[BenchTable.Section], Failure>) -> Void
    private var house: BenchHouse
    /// The effects of the press, during the pause. The house leaves out the start of its program.
    private var rest: [Hub.Effect] = []
    private var pauseTimer: Timer?
    private var started: [Double] = [], ended: [Double] = []
    private var bareStarted: [Double] = [], bareEnded: [Double] = []
    private var guardedStarted: [Double] = []
    private var shell: [Double] = [], keys: [Double] = []
    private let signal: StartSignal
    private let triggerhappy: Result<Triggerhappy, Failure>

    init(
        loop: EventLoop, rounds: Int, directory: String,
        finished: @escaping @ReactorActor (Result<[BenchTable.Section], Failure>) -> Void
    ) throws(Failure) {
        self.loop = loop
        self.rounds = rounds
        self.finished = finished
        processes = ProcessEdge(loop: loop)
        let signal = try StartSignal(in: directory)
        self.signal = signal
        triggerhappy = Result { () throws(Failure) in try Triggerhappy(in: directory, started: signal) }
        let address = BluetoothAddress(rawValue: 0x80E4_DA00_00B0)
        let text = """
            version: 1
            rules:
              - id: bench
                triggers: {button: {address: "\(address)"}, event: down}
                actions:
                  - run: [\(Self.program)]
              - id: shell
                triggers: {button: {address: "\(address)"}, event: up}
                actions:
                  - shell: "echo > \(signal.path)"
            """
        house = BenchHouse(
            [SimulatedButtonDescription(name: Self.button, address: address, isPublic: true)], seed: 1,
            rules: try BenchRuleFile.load(Array(text.utf8)))
        _ = house.wait(.seconds(2))
        house.ask(#"{"request":"permit_join","data":{"time":600}}"#)
        guard house.wait(.seconds(120), until: { $0.readyCount == 1 }) else {
            throw Failure(.internalError, "The simulated button did not become ready. Please report it.")
        }
    }

    func start() {
        pauseTimer = loop.timer { [unowned self] in completePress() }
        next()
    }

    private func next() {
        guard ended.count < rounds else { return finish() }
        do throws(Failure) {
            try startBare()
            try startGuarded()
            try startRule()
        } catch {
            finished(.failure(error))
        }
    }

    private func startBare() throws(Failure) {
        let clock = ContinuousClock()
        let began = clock.now
        var process: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(Self.program), nil]
        defer { free(arguments[0]) }
        let failure = posix_spawn(&process, Self.program, nil, nil, &arguments, nil)
        guard failure == 0 else {
            throw Failure(.unavailable, "\(Self.program) cannot be started: \(errorText(failure)).")
        }
        bareStarted.append(Double((clock.now - began).nanoseconds))
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
        bareEnded.append(Double((clock.now - began).nanoseconds))
    }

    /// Starts the program as safely as a rule does, with pipes for what it says, in its own group and without descriptors of this
    /// process, but without a rule.
    private func startGuarded() throws(Failure) {
        let clock = ContinuousClock()
        let began = clock.now
        var output: [Int32] = [-1, -1], error: [Int32] = [-1, -1]
        guard pipe(&output) == 0, pipe(&error) == 0 else {
            throw Failure(.unavailable, "No pipe can be made: \(errorText(errno)).")
        }
        defer { for descriptor in output + error { close(descriptor) } }
        let (process, failure) = startProgram(Self.program, [Self.program]) { actions in
            posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(actions, output[1], 1)
            posix_spawn_file_actions_adddup2(actions, error[1], 2)
        }
        guard failure == 0 else {
            throw Failure(.unavailable, "\(Self.program) cannot be started: \(errorText(failure)).")
        }
        guardedStarted.append(Double((clock.now - began).nanoseconds))
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }

    private func startRule() throws(Failure) {
        _ = house.wait(.seconds(1))
        let (given, began, rest) = try start(by: .down) { [weak self] id, result, given in
            guard let self else { return }
            ended.append(Double(loop.nanosecondsSinceBoot - given))
            hasEnded(id, result) { bench throws(Failure) in try bench.startShell() }
        }
        started.append(Double(began - given))
        self.rest = rest
        pauseTimer?.set(at: loop.nanosecondsSinceBoot + Self.pause)
    }

    private func completePress() {
        house.carryOut(rest)
        rest = []
    }

    private func startShell() throws(Failure) {
        _ = house.wait(.milliseconds(200))
        let (given, _, rest) = try start(by: .up) { [weak self] id, result, _ in
            self?.hasEnded(id, result) { $0.next() }
        }
        guard signal.wait() else {
            throw Failure(.unavailable, "The shell that the rule starts has not written to its pipe within 5 s.")
        }
        shell.append(Double(loop.nanosecondsSinceBoot - given))
        house.carryOut(rest)
        guard case .success(let triggerhappy) = triggerhappy else { return }
        guard let time = triggerhappy.press() else {
            throw Failure(.unavailable, "The shell that thd starts has not written to its pipe within 5 s.")
        }
        keys.append(time)
    }

    /// Gives the hub the packets of a press, and starts the program that it asks for.
    ///
    /// - Returns: the time at which the first packet was given, the time at which the program began, and the hub's effects.
    private func start(
        by press: SimulatedPress, _ ended: @escaping @ReactorActor (JobID, ProcessResult, Int64) -> Void
    ) throws(Failure) -> (given: Int64, began: Int64, [Hub.Effect]) {
        house.intercepts = true
        house.give(.press(button: Self.button, press))
        let isSent = house.wait(.seconds(5)) { !$0.intercepted.isEmpty }
        house.intercepts = false
        guard isSent else { throw Failure(.internalError, "The simulated button does not answer. Please report it.") }
        let packets = house.intercepted
        house.intercepted = []

        var rest: [Hub.Effect] = []
        var began: Int64?
        let given = loop.nanosecondsSinceBoot
        for packet in packets {
            let effects = house.receive(packet)
            for case .startJob(let id, .process(let request)) in effects {
                began = processes.start(id.rawValue, request) { ended(id, $0, given) }
            }
            rest += effects
        }
        guard let began else {
            throw Failure(.internalError, "The rule did not start its program. Please report it.")
        }
        return (given, began, rest)
    }

    private func hasEnded(
        _ id: JobID, _ result: ProcessResult,
        _ next: @escaping @ReactorActor (BenchProcess) throws(Failure) -> Void
    ) {
        guard result.status == .exited(0) else {
            return finished(.failure(Failure(.unavailable, "A program failed: \(result.status).")))
        }
        completePress()
        house.give(.jobEnded(id, .process(result)))
        loop.onNextTurn { [weak self] in
            guard let self else { return }
            do throws(Failure) { try next(self) } catch { finished(.failure(error)) }
        }
    }

    private func finish() {
        let title = "\(Self.program), \(rounds) times"
        var key = BenchTable.Row(name: "\(Triggerhappy.package): key → shell", unit: .time, samples: keys)
        switch triggerhappy {
        case .success(let triggerhappy): triggerhappy.stop()
        case .failure(let failure): key.note = failure.sentence
        }
        finished(
            .success([
                BenchTable.Section(
                    title: title + ", until its own code begins",
                    rows: [
                        .init(name: "posix_spawn", unit: .time, samples: bareStarted),
                        .init(
                            name: "with pipes, a group and default signals", unit: .time, samples: guardedStarted,
                            floor: bareStarted),
                        .init(
                            name: "packet of a button → run", unit: .time, samples: started, floor: bareStarted,
                            budget: "at most 1.3 ×"),
                    ]),
                BenchTable.Section(
                    title: title + ", until its end is known",
                    rows: [
                        .init(name: "posix_spawn and waitpid", unit: .time, samples: bareEnded),
                        .init(
                            name: "packet of a button → result in the hub", unit: .time, samples: ended,
                            floor: bareEnded, budget: "at most 1.3 ×"),
                    ]),
                BenchTable.Section(
                    title: "a line of shell, \(rounds) times, until it says something",
                    rows: [
                        key,
                        .init(
                            name: "packet of a button → shell", unit: .time, samples: shell,
                            floor: keys.isEmpty ? nil : keys),
                    ]),
            ]))
    }
}

extension BenchProcess {
    /// Runs the whole measurement on a loop of its own.
    nonisolated static func measure(rounds: Int, in directory: String) throws(Failure) -> [BenchTable.Section] {
        let outcome = Mutex<Result<[BenchTable.Section], Failure>>(.failure(.silent(.unavailable)))
        _ = EventLoop.run { @ReactorActor in
            let loop = EventLoop.shared
            let finish: @ReactorActor (Result<[BenchTable.Section], Failure>) -> Void = { result in
                outcome.withLock { $0 = result }
                loop.stop()
            }
            do throws(Failure) {
                let bench = try BenchProcess(
                    loop: loop, rounds: rounds, directory: directory, finished: finish)
                loop.onSignals([SIGINT, SIGTERM]) { [bench] _ in withExtendedLifetime(bench) { loop.stop() } }
                bench.start()
            } catch {
                finish(.failure(error))
            }
        }
        return try outcome.withLock { result throws(Failure) in try result.get() }
    }
}
