import ButtonModel
import CommandSupport
import Hub
import JSON

/// The output of `tryck import`.
enum ImportText {
    static func lines(_ plan: ImportPlan) -> [Line] {
        let rows = [["BUTTON", "SERIAL", "ADDRESS", "NOW"]] + plan.entries.map(row)
        let widths = rows[0].indices.map { column in rows.map { $0[column].visible.columns }.max() ?? 0 }
        let table = rows.enumerated().map { number, cells in
            var line = Line()
            for (column, cell) in cells.enumerated() {
                let text = column == cells.count - 1 ? cell : cell.visible.padded(to: widths[column] + 2)
                line.append(text, number == 0 ? .faint : ink(cell, column))
            }
            return line
        }
        return table + [Line(advice(plan))]
    }

    static func json(_ plan: ImportPlan) -> JSONValue {
        [
            "buttons": .array(
                plan.entries.map { entry in
                    [
                        "id": .string(entry.button.id.description), "name": .string(entry.button.displayName),
                        "serial": .string(entry.button.identity.serial), "result": .string(entry.outcome.rawValue),
                    ]
                }),
            "installation_id": plan.installationID.map { .string($0) } ?? .null,
        ]
    }

    private static func row(_ entry: ImportPlan.Entry) -> [String] {
        [
            entry.button.displayName, entry.button.identity.serial, entry.button.identity.address.description,
            entry.outcome.rawValue,
        ]
    }

    private static func ink(_ cell: String, _ column: Int) -> Ink {
        switch (column, cell) {
        case (0, _): .strong
        case (3, "added"): .good
        case (3, "replaced"): .doubtful
        default: .plain
        }
    }

    private static func advice(_ plan: ImportPlan) -> String {
        plan.entries.allSatisfy { $0.outcome == .kept }
            ? "Nothing was changed. To replace the known buttons: --replace"
            : "Start the daemon, and press a button: systemctl start tryck"
    }
}
