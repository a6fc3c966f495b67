import Glibc

/// The terminal's input, one key at a time: no line editing, no echo, no key that sends a signal. What is written
/// to it looks as always.
///
/// It is put back as it was when this value goes away; what was typed ahead is not left to the shell.
struct RawTerminal: ~Copyable {
    private let descriptor: Int32
    private let original: termios

    private init(_ descriptor: Int32, original: termios) {
        self.descriptor = descriptor
        self.original = original
    }

    /// `nil` when the descriptor is no terminal.
    static func take(_ descriptor: Int32) -> RawTerminal? {
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
