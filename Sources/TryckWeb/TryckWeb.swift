import ButtonModel
import CLinux
import ControlClient
import Edges
import Glibc
import NIOCore
import NIOPosix
import Platform
import Reactor
import Settings
import Setup
import WebService

/// The program from its arguments to its exit status.
///
/// The daemon's socket is served by the reactor on the main thread. HTTP is served by one thread of NIO, on which the tasks of
/// all connections run. What computes for long has threads of its own (`HeavyWork`).
enum TryckWeb {
    /// Never returns.
    static func main(sourceFolder: String?) -> Never {
        switch WebOptions.parse(Array(CommandLine.arguments.dropFirst())) {
        case .help:
            write(WebOptions.help, to: STDOUT_FILENO)
            exit(ExitStatus.success.rawValue)
        case .version:
            write("tryck-web \(Version.string)\n", to: STDOUT_FILENO)
            exit(ExitStatus.success.rawValue)
        case .usage(let sentence): stop(sentence, .usage)
        case .run(let options): run(options, sourceFolder: sourceFolder)
        }
    }

    private static func run(_ options: WebOptions, sourceFolder: String?) -> Never {
        // Programs that the daemon's rules start run as the same user, and cannot read the tokens in the memory.
        linux_forbid_dumps()
        signal(SIGXFSZ, SIG_IGN)
        linux_use_one_heap()
        let setup: WebSetup
        do throws(Setup.Failure) {
            setup = try WebSetup(
                options, environment: SystemEnvironment.environmentVariables, sourceFolder: sourceFolder)
        } catch {
            stop(error.text, error.status)
        }
        for notice in setup.notices { log(notice) }
        guard
            let signIn = SignIn(
                password: setup.web.password, stateDirectory: setup.stateDirectory, at: SystemEnvironment.wallClock)
        else { stop("OpenSSL has no random numbers or no memory; see free -h.", .internalError) }
        exit(Reactor.EventLoop.run { start(setup, signIn) })
    }

    @ReactorActor private static var linkServer: LinkServer?

    @ReactorActor
    private static func start(_ setup: WebSetup, _ signIn: SignIn) {
        let loop = Reactor.EventLoop.shared
        loop.onSignals([SIGTERM, SIGINT, SIGHUP]) { _ in
            linkServer?.close()
            if case .unix(let path) = setup.web.listen { unlink(path) }
            loop.stop()
        }
        let site = Site(setup, signIn: signIn, loop: loop)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        Task(executorPreference: LoopTaskExecutor(group.next())) {
            let reason = await serve(site, on: group)
            await failed(reason)
        }
    }

    /// The page can be opened now.
    @ReactorActor
    static func listening(_ site: Site) {
        log("tryck-web listens on \(site.setup.web.listen); tryck web prints a link to the page")
        let setup = site.setup
        do throws(ControlServerFailure) {
            linkServer = try LinkServer(
                Reactor.EventLoop.shared, path: setup.linkSocket, web: setup.web, signIn: site.signIn)
        } catch {
            // The socket's own sentence is about a daemon.
            let reason =
                if case .inUse(let path) = error {
                    "another tryck-web listens on \(path): stop it, or give one of the two daemons another control_socket"
                } else { "\(error)" }
            log("tryck web can print no links: \(reason)")
        }
        StartMemory.release()
    }

    @ReactorActor
    private static func failed(_ reason: String) {
        linkServer?.close()
        log("tryck-web: \(reason)")
        Reactor.EventLoop.shared.stop(status: ExitStatus.unavailable.rawValue)
    }

    static func log(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    private static func stop(_ sentence: String, _ status: ExitStatus) -> Never {
        write("tryck-web: \(sentence)\n", to: STDERR_FILENO)
        exit(status.rawValue)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
