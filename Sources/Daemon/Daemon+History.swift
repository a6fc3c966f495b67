import ButtonModel
import Edges
import Hub
import JSON
import Platform
import Reactor
import Setup

// The history in the state directory.
extension Daemon {
    func beginHistory(_ header: RecordingHeader, _ limits: HistoryLimits) {
        let directory = Setup.historyDirectory(in: setup.stateDirectory)
        let edge = HistoryEdge(loop: loop, directory: directory, maximumLength: limits.length) { [weak self] event in
            switch event {
            case .written: self?.advanceHistory(.written)
            case .failed(let reason, let length): self?.advanceHistory(.failed(reason: reason, length: length))
            }
        }
        history = (HistoryWriter(limits), edge)
        advanceHistory(.begin(header, segments: HistoryEdge.segments(in: directory)))
    }

    /// Keeps a turn for `writeHistory`.
    ///
    /// - Parameter line: the line of a recording for the turn; `nil` if there is none.
    func addToHistory(_ turn: HubRunner.Turn, _ line: RecordedLine?) {
        if history != nil { unseenTurns.append((turn, line)) }
    }

    /// Gives the history the turns that wait in `unseenTurns`. The first line of a segment contains the rules and the
    /// stored state, so this can take some milliseconds. It is therefore done after messages and the store.
    func writeHistory() {
        guard let edge = history?.edge, !unseenTurns.isEmpty else { return }
        let turns = unseenTurns
        unseenTurns = []
        for (turn, line) in turns { advanceHistory(.turn(turn, line: line, length: edge.length)) }
    }

    private func advanceHistory(_ input: HistoryWriter.Input) {
        guard let edge = history?.edge else { return }
        let time =
            if case .turn(let turn, _, _) = input { turn.at } else {
                Instant(nanoseconds: loop.nanosecondsSinceBoot)
            }
        let effects = history?.writer.handle(input, at: time, wallClock: SystemEnvironment.wallClock) ?? []
        for effect in effects {
            switch effect {
            case .remove(let segment): edge.remove(segment)
            case .open(let segment): edge.open(segment)
            case .header(let header): if let line = runner.hub.recordedHeader(header) { edge.write(line) }
            case .repeated(let input, let at):
                if let line = runner.hub.repeatedLine(input, at: at) { edge.write(line.octets) }
            case .line(let line): edge.write(line.octets)
            case .log(let level, let message): log(level, message)
            // A fault that is found while turns are given to the history is handled before the next input.
            case .fault(let reason): deliver(.historyFault(reason))
            }
        }
    }
}
