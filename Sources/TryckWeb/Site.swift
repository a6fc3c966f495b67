import ButtonModel
import Platform
import Reactor
import Settings
import WebService

/// The services that the routes share.
struct Site: Sendable {
    let setup: WebSetup
    let signIn: SignIn
    let files: StaticFiles
    let feed: EventFeed
    let daemon: DaemonRequests
    let work: HeavyWork
    let rules: RuleDesk
    let connections = Connections()

    /// Where Debian puts the editor (`libjs-codemirror`).
    private static let codeMirror = "/usr/share/javascript/codemirror"

    @ReactorActor
    init(_ setup: WebSetup, signIn: SignIn, loop: EventLoop) {
        self.setup = setup
        self.signIn = signIn
        files = StaticFiles(page: setup.publicFolder ?? "/usr/share/tryck/web", codeMirror: Self.codeMirror)
        feed = EventFeed(loop, candidates: setup.controlSockets)
        daemon = DaemonRequests(loop, candidates: setup.controlSockets)
        work = HeavyWork(loop)
        rules = RuleDesk(setup.rules, canEdit: setup.web.editsRules, key: signIn.fileKey)
    }

    static var now: Instant { SystemEnvironment.sinceBoot }
    static var wallClock: UTCTime { SystemEnvironment.wallClock }
}
