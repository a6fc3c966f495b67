import ButtonModel
import CLinux
import Edges
import Glibc
import Hub
import Logging
import Platform
import Reactor
import Settings
import Setup

/// Runs the daemon from its arguments to its exit status. Never returns.
///
/// - Parameters:
///   - arguments: the command line without the name of the program.
///   - commit: the first eight digits of the commit that was built; empty if it is unknown.
///   - homepage: the public address of the project; empty if it has none.
///   - trialParts: the simulator and the private broker. Without them, this process becomes `tryck daemon` if the
///     configuration needs them.
package func runDaemon(
    _ arguments: [String] = Array(CommandLine.arguments.dropFirst()), commit: String = "", homepage: String = "",
    trialParts: TrialParts? = nil
) -> Never {
    switch DaemonOptions.parse(arguments) {
    case .help:
        write(DaemonOptions.help, to: STDOUT_FILENO)
        exit(ExitStatus.success.rawValue)
    case .version:
        write("tryckd \(Version.string)\n", to: STDOUT_FILENO)
        exit(ExitStatus.success.rawValue)
    case .usage(let sentence):
        stop(sentence, .usage)
    case .run(let options):
        // The thread of the store would otherwise have a heap of its own, and what the start frees would stay unused in this one.
        linux_use_one_heap()
        harden()
        exit(run(options, commit: commit, homepage: homepage, trialParts))
    }
}

/// Sets the process attributes that must be in effect before keys are read and files are written.
private func harden() {
    // Other programs of the same user, such as those that rules start, cannot read the keys in its memory; and no core
    // file has them.
    linux_forbid_dumps()
    // A write to a closed pipe, or beyond RLIMIT_FSIZE, then fails with an error instead of ending the process.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
}

private func run(_ options: DaemonOptions, commit: String, homepage: String, _ trialParts: TrialParts?) -> Int32 {
    let environmentVariables = SystemEnvironment.environmentVariables
    var setup: Setup
    do {
        setup = try Setup(options, environment: environmentVariables) { configuration in
            if trialParts == nil { becomeTrialDaemon(if: configuration) }
        }
    } catch {
        stop(error.text, error.status)
    }
    setup.hub.commit = commit
    setup.hub.homepage = homepage.isEmpty ? nil : homepage
    if setup.configuration.isSimulated { trialParts?.describe(setup.simulator, &setup.hub) }
    let level = Logger.Level(setup.hub.logLevel)
    let output = LogOutput(
        level: level, format: LogFormat(setup.configuration.logFormat, environment: environmentVariables))
    var logger = Logger(label: "tryckd") { TryckLogHandler(label: $0, output: output) }
    logger.logLevel = level
    for warning in setup.warnings { logger.warning("\(warning)") }

    return EventLoop.run { @ReactorActor [logger, setup] in
        start(setup, logger, output, trialParts)
    }
}

/// Keeps the daemon alive as long as the loop runs.
@ReactorActor private var daemon: Daemon?

@ReactorActor
private func start(_ setup: Setup, _ logger: Logger, _ output: LogOutput, _ trialParts: TrialParts?) {
    let loop = EventLoop.shared
    var setup = setup
    do {
        let recorder = try setup.recordingPath.map { (path) throws(RecordFailure) in
            try RecordEdge(loop: loop, path: path) { daemon?.recordingEnded($0) }
        }
        SystemEnvironment.makeDirectory(SystemEnvironment.directory(of: setup.controlSocket), mode: 0o750)
        let entropy = SystemEnvironment.randomOctets(2).reduce(0 as UInt16) { $0 << 8 | UInt16($1) }
        let store = try StoreEdge(
            loop: loop, directory: setup.stateDirectory,
            runtimeDirectory: SystemEnvironment.directory(of: setup.controlSocket), entropy: entropy,
            now: SystemEnvironment.wallClock
        ) { daemon?.received($0) }
        for notice in store.notices {
            switch notice {
            // The hub reports these, and shows them in `status`: a database that was set aside until the state is restored.
            case .renamed: setup.hub.lostState = "\(notice)"
            case .ringOnDisk:
                setup.hub.ringWarning = "\(notice)"
                logger.warning("\(notice)")
            case .directoryIsOpen, .fileWasOpen, .wasEmpty, .unreadable, .repaired, .ringIgnored, .writtenAgain:
                logger.warning("\(notice)")
            }
        }
        if let good = setup.rulesToKeep, !good.write(in: setup.stateDirectory) {
            logger.warning("the rules could not be saved in \(setup.stateDirectory) as the last good rules")
        }
        let control = try ControlServer(loop: loop, path: setup.controlSocket) { client, line in
            daemon?.deliver(.controlLine(client, line))
        } onDisconnect: { client in
            daemon?.deliver(.clientGone(client))
        }
        let capture = beginCapture(&setup, logger)
        daemon = Daemon(
            loop: loop, logger: logger, output: output, setup: setup, store: store, control: control,
            capture: capture, recorder: recorder, trialParts: trialParts)
        daemon?.start()
        if let fault = control.fault {
            logger.error("\(fault). tryckd \(Version.string) is running without it, and tries again every few seconds")
        } else {
            logger.info("tryckd \(Version.string) is running; commands reach it at \(setup.controlSocket)")
        }
    } catch let failure as RecordFailure {
        logger.critical("\(failure)")
        loop.stop(status: ExitStatus.configuration.rawValue)
    } catch {
        logger.critical("\(error)")
        loop.stop(status: ExitStatus.unavailable.rawValue)
    }
}

/// Opens the capture file. The daemon runs without it after a failure, because a service that was started with `--capture`
/// finds its old file after a reboot.
@ReactorActor
private func beginCapture(_ setup: inout Setup, _ logger: Logger) -> CaptureFile? {
    guard let path = setup.capture else { return nil }
    do throws(CaptureFile.Failure) {
        let capture = try CaptureFile(loop: EventLoop.shared, path: path) { logger.warning("\($0)") }
        let radio = setup.configuration.usedRadios.first(where: \.mayBeCaptured)
        if let radio {
            logger.warning("the Bluetooth traffic of \(radio.name) is written to \(path)")
        } else {
            logger.warning("\(path) stays empty: proxies and adapters that BlueZ shares cannot be captured")
        }
        return capture
    } catch {
        logger.error("\(error)")
        setup.hub.capture = nil
        return nil
    }
}

func stop(_ sentence: String, _ status: ExitStatus) -> Never {
    let isJournal = LogOutput.isJournal(stream: SystemEnvironment.environmentVariables["JOURNAL_STREAM"])
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
