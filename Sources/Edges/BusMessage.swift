import CSystemBus
import Radios

/// Reads and writes a message of sd-bus. Type codes are those of the D-Bus specification, "Type System".
struct BusMessage {
    let functions: UnsafePointer<csystembus>
    let message: OpaquePointer

    private var bus: csystembus { functions.pointee }

    // MARK: Reading

    /// Other devices choose names and data, so what is read has limits.
    private static let maximumDepth = 8
    private static let maximumEntries = 4096
    private static let maximumText = 4096

    var path: String { bus.message_get_path(message).map { String(cString: $0) } ?? "" }

    /// The error, if this is an error message.
    var error: BusError? {
        guard let error = bus.message_get_error(message), let name = error.pointee.name else { return nil }
        let text = error.pointee.message.map { String(cString: $0) } ?? ""
        return BusError(name: String(cString: name), message: String(text.prefix(200)))
    }

    func isSignal(_ interface: String, _ member: String) -> Bool {
        bus.message_is_signal(message, interface, member) > 0
    }

    func isCall(_ interface: String, _ member: String) -> Bool {
        bus.message_is_method_call(message, interface, member) > 0
    }

    /// The next value; `nil` at the end, and for a value of a type that is not used or beyond the limits.
    func read(depth: Int = 0) -> BusValue? {
        guard let (type, contents) = nextType else { return nil }
        guard depth < Self.maximumDepth else { return skip() }
        switch type {
        case "s", "o", "g": return text(type).map(BusValue.string)
        case "b": return number(type, Int32(0)).map { .bool($0 != 0) }
        case "y": return number(type, UInt8(0)).map { .integer(Int64($0)) }
        case "n": return number(type, Int16(0)).map { .integer(Int64($0)) }
        case "q": return number(type, UInt16(0)).map { .integer(Int64($0)) }
        case "i": return number(type, Int32(0)).map { .integer(Int64($0)) }
        case "u": return number(type, UInt32(0)).map { .integer(Int64($0)) }
        case "x": return number(type, Int64(0)).map { .integer($0) }
        case "t": return number(type, UInt64(0)).map { .integer(Int64(clamping: $0)) }
        case "v":
            return inside(type, contents) { read(depth: depth + 1) }
        case "a" where contents == "y": return octets.map(BusValue.octets)
        case "a" where contents.hasPrefix("{"):
            return inside(type, contents) {
                .dictionary(entries(String(contents.dropFirst().dropLast()), depth: depth + 1))
            }
        case "a", "r":
            return inside(type, contents) { .list(elements(depth: depth + 1)) }
        default: return skip()
        }
    }

    private var nextType: (type: Unicode.Scalar, contents: String)? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard bus.message_peek_type(message, &type, &contents) > 0 else { return nil }
        return (Unicode.Scalar(UInt8(truncatingIfNeeded: type)), contents.map { String(cString: $0) } ?? "")
    }

    private func skip() -> BusValue? {
        _ = bus.message_skip(message, nil)
        return nil
    }

    private func text(_ type: Unicode.Scalar) -> String? {
        var pointer: UnsafePointer<CChar>?
        guard bus.message_read_basic(message, type.code, &pointer) > 0, let pointer else { return nil }
        return String(String(cString: pointer).prefix(Self.maximumText))
    }

    private func number<Number: FixedWidthInteger>(_ type: Unicode.Scalar, _ zero: Number) -> Number? {
        var number = zero
        let result = withUnsafeMutablePointer(to: &number) { bus.message_read_basic(message, type.code, $0) }
        return result > 0 ? number : nil
    }

    /// Octets of the message; `nil` if there are none to read.
    private var octets: [UInt8]? {
        var pointer: UnsafeRawPointer?
        var count = 0
        guard bus.message_read_array(message, Unicode.Scalar("y").code, &pointer, &count) >= 0 else { return nil }
        guard let pointer, count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: pointer, count: min(count, Self.maximumText)))
    }

    private func inside(_ type: Unicode.Scalar, _ contents: String, _ body: () -> BusValue?) -> BusValue? {
        guard bus.message_enter_container(message, type.code, contents) > 0 else { return nil }
        let value = body()
        // A container can only be left at its end.
        while bus.message_at_end(message, 0) == 0, bus.message_skip(message, nil) > 0 {}
        _ = bus.message_exit_container(message)
        return value
    }

    private func elements(depth: Int) -> [BusValue] {
        var elements: [BusValue] = []
        while bus.message_at_end(message, 0) == 0, elements.count < Self.maximumEntries {
            guard nextType != nil else { break }
            if let element = read(depth: depth) { elements.append(element) }
        }
        return elements
    }

    private func entries(_ contents: String, depth: Int) -> [String: BusValue] {
        var entries: [String: BusValue] = [:]
        while bus.message_at_end(message, 0) == 0, entries.count < Self.maximumEntries {
            guard bus.message_enter_container(message, Unicode.Scalar("e").code, contents) > 0 else { break }
            let key = read(depth: depth)
            let value = read(depth: depth)
            _ = bus.message_exit_container(message)
            switch key {
            case .string(let name): entries[name] = value
            case .integer(let number): entries[String(number)] = value
            case .bool, .octets, .list, .dictionary, nil: break
            }
        }
        return entries
    }

    /// A descriptor, which belongs to the message.
    var descriptor: Int32? { number("h", Int32(-1)) }

    // MARK: Writing

    func append(string text: String) { _ = bus.message_append_basic(message, Unicode.Scalar("s").code, text) }

    func append(path: String) { _ = bus.message_append_basic(message, Unicode.Scalar("o").code, path) }

    func append(bool value: Bool) {
        var number: Int32 = value ? 1 : 0
        _ = bus.message_append_basic(message, Unicode.Scalar("b").code, &number)
    }

    /// Writes a container whose contents `body` writes: "a" array, "v" variant, "e" dictionary entry.
    func append(_ type: Unicode.Scalar, of contents: String, _ body: () -> Void = {}) {
        _ = bus.message_open_container(message, type.code, contents)
        body()
        _ = bus.message_close_container(message)
    }
}

extension Unicode.Scalar {
    /// The type code for sd-bus.
    fileprivate var code: CChar { CChar(truncatingIfNeeded: value) }
}

extension BusValue {
    /// The interfaces of an object, of the type `a{sa{sv}}`.
    var interfaces: BusInterfaces {
        guard case .dictionary(let interfaces) = self else { return [:] }
        return interfaces.mapValues(\.properties)
    }

    /// Properties by their names, of the type `a{sv}`.
    var properties: [String: BusValue] {
        guard case .dictionary(let properties) = self else { return [:] }
        return properties
    }
}
