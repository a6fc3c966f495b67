public import JSON

extension Diagnostic {
    /// The diagnostic as a JSON object, for editors and MQTT subscribers. It does not include the source line.
    public var json: JSONValue {
        [
            "code": .string(code), "severity": .string(severity.rawValue), "file": .string(file),
            "line": .integer(Int64(start.line)), "column": .integer(Int64(start.column)),
            "end_line": .integer(Int64(end.line)), "end_column": .integer(Int64(end.column)),
            "message": .string(message), "hint": hint.map(JSONValue.string) ?? .null,
            "related": .array(
                related.map { note in
                    [
                        "message": .string(note.message), "file": .string(note.file),
                        "line": .integer(Int64(note.position.line)), "column": .integer(Int64(note.position.column)),
                    ]
                }),
        ]
    }
}
