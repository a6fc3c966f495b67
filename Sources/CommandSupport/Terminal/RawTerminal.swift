import Glibc

/// The input of a terminal, one key at a time: without line editing, echo, and keys that send signals. Output is not
/// affected.
///
/// When this value is destroyed, the terminal is restored, and input that was not read is discarded, so that the shell
/// does not get it.
package struct RawTerminal: ~Copyable {
    private let descriptor: Int32
    private let original: termios

    private init(_ descriptor: Int32, original: termios) {
        self.descriptor = descriptor
        self.original = original
    }

    /// `nil` when the descriptor is not a terminal.
    package static func take(_ descriptor: Int32) -> RawTerminal? {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        let original = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        guard tcsetattr(descriptor, TCSADRAIN, &settings) == 0 else { return nil }
        return RawTerminal(descriptor, original: original)
    }

    deinit {
        var settings = original
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }
}
