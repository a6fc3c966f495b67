import CYAML
import Diagnostics

/// An event of libyaml as a Swift value.
struct YAMLEvent {
    enum Kind {
        case streamStart
        case streamEnd
        case documentStart
        case documentEnd
        case alias(String)
        case scalar(String, YAMLNode.ScalarStyle)
        case sequenceStart
        case sequenceEnd
        case mappingStart(isFlow: Bool)
        case mappingEnd
    }

    var kind: Kind
    var anchor: String?
    var tag: String?
    var start, end: SourcePosition
}

/// A syntax error as libyaml reports it.
struct YAMLProblem: Error {
    var problem: String
    var position: SourcePosition
    /// The beginning of the construct that libyaml was reading.
    var contextPosition: SourcePosition?
}

/// libyaml's event parser. It resolves no types, so no text becomes a boolean or a number here.
///
/// Its marks count lines and Unicode scalars from 0.
struct YAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    init(_ octets: [UInt8]) {
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        input = .allocate(capacity: octets.count)
        _ = input.initialize(from: octets)
        precondition(yaml_parser_initialize(parser) == 1, "libyaml fails here only without memory")
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deinitialize(count: 1)
        parser.deallocate()
        input.deallocate()
    }

    mutating func next() throws(YAMLProblem) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw problem }
        defer { yaml_event_delete(&event) }
        let kind: YAMLEvent.Kind
        var anchor: UnsafeMutablePointer<yaml_char_t>?
        var tag: UnsafeMutablePointer<yaml_char_t>?
        switch event.type {
        case YAML_STREAM_START_EVENT: kind = .streamStart
        case YAML_DOCUMENT_START_EVENT: kind = .documentStart
        case YAML_DOCUMENT_END_EVENT: kind = .documentEnd
        case YAML_ALIAS_EVENT: kind = .alias(String(cString: event.data.alias.anchor))
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            (anchor, tag) = (scalar.anchor, scalar.tag)
            let octets = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            kind = .scalar(String(decoding: octets, as: UTF8.self), YAMLNode.ScalarStyle(scalar.style))
        case YAML_SEQUENCE_START_EVENT:
            (anchor, tag) = (event.data.sequence_start.anchor, event.data.sequence_start.tag)
            kind = .sequenceStart
        case YAML_SEQUENCE_END_EVENT: kind = .sequenceEnd
        case YAML_MAPPING_START_EVENT:
            (anchor, tag) = (event.data.mapping_start.anchor, event.data.mapping_start.tag)
            kind = .mappingStart(isFlow: event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE)
        case YAML_MAPPING_END_EVENT: kind = .mappingEnd
        default: kind = .streamEnd
        }
        return YAMLEvent(
            kind: kind, anchor: anchor.map { String(cString: $0) }, tag: tag.map { String(cString: $0) },
            start: SourcePosition(event.start_mark), end: SourcePosition(event.end_mark))
    }

    /// Counts the events that are left, up to the end or the first error.
    consuming func count() -> Int {
        var count = 0
        var event = yaml_event_t()
        while yaml_parser_parse(parser, &event) == 1 {
            count += 1
            let isLast = event.type == YAML_STREAM_END_EVENT
            yaml_event_delete(&event)
            if isLast { break }
        }
        return count
    }

    private var problem: YAMLProblem {
        let what = parser.pointee.problem.map { String(cString: $0) } ?? "cannot be read"
        return YAMLProblem(
            problem: what, position: SourcePosition(parser.pointee.problem_mark),
            contextPosition: parser.pointee.context == nil ? nil : SourcePosition(parser.pointee.context_mark))
    }
}

extension SourcePosition {
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1)
    }
}

extension YAMLNode.ScalarStyle {
    fileprivate init(_ style: yaml_scalar_style_t) {
        switch style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: self = .quoted
        case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: self = .block
        default: self = .plain
        }
    }
}
