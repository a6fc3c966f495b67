import ButtonModel
import DiskTestSupport
import Hub
import JSON

/// The history of a household, as a daemon keeps it.
struct HouseHistory {
    private let limits: HistoryLimits
    private var writer: HistoryWriter
    private var segments: [Int: (segment: HistorySegment, octets: [UInt8])] = [:]
    private var current = 0

    init(age: Duration = .seconds(7 * 86_400), length: Int = 64 << 20) {
        limits = HistoryLimits(age: age, length: length)
        writer = HistoryWriter(limits)
    }

    var segmentCount: Int { segments.count }
    var length: Int { segments.values.reduce(0) { $0 + $1.octets.count } }
    var text: String { segments.values.map { String(decoding: $0.octets, as: UTF8.self) }.joined() }

    mutating func begin(_ header: RecordingHeader, _ hub: inout Hub, at now: Instant, _ clock: UTCTime) {
        _ = hub.beginRecording(header, isExact: false, at: now)
        writer = HistoryWriter(limits)
        let known = segments.values.map {
            HistorySegment(number: $0.segment.number, length: $0.octets.count, modifiedAt: clock)
        }
        carryOut(writer.handle(.begin(header, segments: known), at: now, wallClock: clock), hub)
    }

    mutating func add(_ turn: HubRunner.Turn, _ hub: inout Hub, _ clock: UTCTime) {
        let line = hub.recordedLine(turn.input, turn.effects, isForHistory: true, at: turn.at)
        let length = segments[current]?.octets.count ?? 0
        let effects = writer.handle(.turn(turn, line: line, length: length), at: turn.at, wallClock: clock)
        carryOut(effects, hub)
    }

    /// Cuts off the end of the open segment, like a kill in the middle of a write.
    mutating func cut(_ count: Int) { segments[current]?.octets.removeLast(count) }

    /// Replaces a text in the segment with this place in the order; `nil`: in all.
    mutating func replace(_ text: String, with other: String, in place: Int? = nil) {
        let numbers = segments.keys.sorted()
        for number in place.map({ [numbers[$0]] }) ?? numbers {
            let old = String(decoding: segments[number]?.octets ?? [], as: UTF8.self)
            segments[number]?.octets = Array(old.replacing(text, with: other).utf8)
        }
    }

    /// Drops the segment with this place in the order.
    mutating func lose(_ place: Int) { segments[segments.keys.sorted()[place]] = nil }

    /// Writes the segments into files.
    func write(to directory: String) {
        for (segment, octets) in segments.values { writeFile("\(directory)/\(segment.name)", octets) }
    }

    private mutating func carryOut(_ effects: [HistoryWriter.Effect], _ hub: Hub) {
        for effect in effects {
            switch effect {
            case .remove(let segment): segments[segment.number] = nil
            case .open(let segment):
                current = segment.number
                segments[current] = (segment, [])
            case .header(let header): add(hub.recordedHeader(header)?.encoded())
            case .repeated(let input, let at): add(hub.repeatedLine(input, at: at)?.octets)
            case .line(let line): add(line.octets)
            case .log, .fault: break
            }
        }
    }

    private mutating func add(_ line: [UInt8]?) {
        if let line { segments[current]?.octets += line + [UInt8(ascii: "\n")] }
    }
}
