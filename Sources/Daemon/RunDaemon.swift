import ButtonModel
import CLinux
import Glibc
import Hub
import Logging
import Reactor
import RuleLoader

/// `tryckd`, from its arguments to its exit status. Never returns.
///
/// - Parameter commit: of the sources, its first eight digits; empty where there is no git.
package func runDaemon(commit: String) -> Never {
    switch DaemonOptions.parse(Array(CommandLine.arguments.dropFirst())) {
    case .help:
        write(DaemonOptions.help, to: STDOUT_FILENO)
        exit(ExitStatus.done.rawValue)
    case .version:
        write("tryckd \(Version.string)\n", to: STDOUT_FILENO)
        exit(ExitStatus.done.rawValue)
    case .usage(let sentence):
        stop(sentence, .usage)
    case .run(let options):
        harden()
        exit(run(options, commit: commit))
    }
}

/// What this process asks of the kernel before it has anything to hide or to write.
private func harden() {
    // Other programs of the same user, such as those that rules start, cannot read the keys in its memory; and no core
    // file has them.
    linux_forbid_dumps()
    // A reader that is gone, and a file that has reached its limit (RLIMIT_FSIZE), are errors of the call.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
}

private func run(_ options: DaemonOptions, commit: String) -> Int32 {
    let environment = Surroundings.environment
    var setup: Setup
    do {
        setup = try Setup(options, environment: environment)
    } catch {
        stop(error.text, error.status)
    }
    setup.hub.commit = commit
    let level = Logger.Level(setup.hub.logLevel)
    let output = LogOutput(level: level, format: LogFormat(setup.configuration.logFormat, environment: environment))
    var logger = Logger(label: "tryckd") { TryckLogHandler(label: $0, output: output) }
    logger.logLevel = level
    for warning in setup.warnings { logger.warning("\(warning)") }

    return EventLoop.run { @ReactorActor [logger, setup] in
        start(setup, logger, output)
    }
}

/// The daemon lives as long as the loop.
@ReactorActor private var daemon: Daemon?

@ReactorActor
private func start(_ setup: Setup, _ logger: Logger, _ output: LogOutput) {
    let loop = EventLoop.shared
    var setup = setup
    do {
        let recorder = try setup.recordingPath.map { (path) throws(RecordFailure) in
            try RecordEdge(loop: loop, path: path) { daemon?.recordingEnded($0) }
        }
        Surroundings.makeDirectory(ConfigurationFiles.directory(of: setup.controlSocket), mode: 0o750)
        let entropy = Surroundings.randomOctets(2).reduce(0 as UInt16) { $0 << 8 | UInt16($1) }
        let store = try StoreEdge(
            loop: loop, directory: setup.stateDirectory,
            runtimeDirectory: ConfigurationFiles.directory(of: setup.controlSocket), entropy: entropy,
            now: Surroundings.wallClock)
        let stored = try store.load()
        for notice in store.notices {
            // That one is the hub's to say, and to show until it is mended.
            if case .setAside = notice { setup.hub.lostState = "\(notice)" } else { logger.warning("\(notice)") }
        }
        if let good = setup.goodRules, !good.write(in: setup.stateDirectory) {
            logger.warning("the rules could not be saved in \(setup.stateDirectory) as the last good rules")
        }
        let control = try ControlServer(loop: loop, path: setup.controlSocket) { client, line in
            daemon?.deliver(.controlLine(client, line))
        } onDisconnect: { client in
            daemon?.deliver(.clientGone(client))
        }
        let capture = beginCapture(&setup, logger)
        daemon = Daemon(
            loop: loop, logger: logger, output: output, setup: setup, store: store, stored: stored, control: control,
            capture: capture, recorder: recorder)
        daemon?.start()
        logger.info("tryckd \(Version.string) is running; commands reach it at \(setup.controlSocket)")
    } catch let failure as RecordFailure {
        logger.critical("\(failure)")
        loop.stop(status: ExitStatus.configuration.rawValue)
    } catch {
        logger.critical("\(error)")
        loop.stop(status: ExitStatus.unavailable.rawValue)
    }
}

/// Without it the daemon runs all the same: a service that was started with `--capture` finds its old file after a reboot.
@ReactorActor
private func beginCapture(_ setup: inout Setup, _ logger: Logger) -> CaptureFile? {
    guard let path = setup.capture else { return nil }
    do throws(CaptureFile.Failure) {
        let capture = try CaptureFile(loop: EventLoop.shared, path: path) { logger.warning("\($0)") }
        logger.warning("all Bluetooth traffic is written to \(path)")
        return capture
    } catch {
        logger.error("\(error)")
        setup.hub.capture = nil
        return nil
    }
}

private func stop(_ sentence: String, _ status: ExitStatus) -> Never {
    let isJournal = LogOutput.isJournal(stream: Surroundings.environment["JOURNAL_STREAM"])
    LogOutput.writeLast(LogOutput.errors(sentence, isJournal: isJournal))
    exit(status.rawValue)
}

private func write(_ text: String, to descriptor: Int32) {
    var octets = Array(text.utf8)[...]
    while !octets.isEmpty {
        let count = octets.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        octets = octets.dropFirst(count)
    }
}
