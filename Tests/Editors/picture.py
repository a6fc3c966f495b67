"""Draws Neovim while it edits rules with "tryck language-server", as docs/editor.png.

"Tests/Editors/run --picture" starts it. Neovim runs without a terminal and sends what it would draw (:help ui-linegrid);
Chromium makes a picture of it.
"""

import html
import os
import select
import struct
import subprocess
import sys
import tempfile
import time

COLUMNS, ROWS = 84, 18
RULES = """\
version: 1
buttons:
  kitchen: BF12-C34567
  hall: BF12-C34568
rules:
  - id: light
    triggers: {button: kitchn, event: click}
    actions:
      - publish: {topic: home/light, payload: TOGGLE}
  - id: good_night
    triggers: {event: hold, button: }
    actions: {log: good night}
"""
SETTINGS = """
set noswapfile laststatus=0 noruler noshowcmd noshowmode number termguicolors completeopt=menuone,noselect shortmess+=cF
set signcolumn=no cmdheight=1 nohlsearch fillchars=eob:\\ 
highlight LineNr guifg=#4c566a
highlight Identifier guifg=#88c0d0
highlight Delimiter guifg=#81a1c1
highlight Statement guifg=#81a1c1 gui=NONE
highlight Constant guifg=#a3be8c
highlight DiagnosticVirtualTextError guifg=#e06c75
highlight Pmenu guibg=#3b4252 guifg=#e5e9f0
lua vim.diagnostic.config({virtual_text = true, signs = false, update_in_insert = true})
"""


def pack(value):
    """Encodes a value as MessagePack."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, str):
        data = value.encode()
        return b"\xdb" + struct.pack(">I", len(data)) + data
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))
    return b"\xdf" + struct.pack(">I", len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())


class Incomplete(Exception):
    """More octets are needed."""


class Unpacker:
    """Decodes one value of MessagePack."""

    FIXED = {
        0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
        0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
    }
    LENGTHS = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
    COUNTS = {0xDC: (">H", list), 0xDD: (">I", list), 0xDE: (">H", dict), 0xDF: (">I", dict)}

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Incomplete
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def many(self, kind, count):
        if kind is list:
            return [self.value() for _ in range(count)]
        return {self.value(): self.value() for _ in range(count)}

    def value(self):
        tag = self.take(1)[0]
        if tag < 0x80:
            return tag
        if tag < 0x90:
            return self.many(dict, tag & 15)
        if tag < 0xA0:
            return self.many(list, tag & 15)
        if tag < 0xC0:
            return self.take(tag & 31).decode()
        if tag >= 0xE0:
            return tag - 256
        if tag in self.FIXED:
            return self.number(self.FIXED[tag])
        if tag in self.LENGTHS:
            return self.take(self.number(self.LENGTHS[tag])).decode(errors="replace")
        if tag in self.COUNTS:
            form, kind = self.COUNTS[tag]
            return self.many(kind, self.number(form))
        if 0xD4 <= tag <= 0xD8:  # Handles of buffers and windows.
            return self.take(1 + (1 << tag - 0xD4))
        if tag == 0xC7:
            return self.take(1 + self.number(">B"))
        return {0xC0: None, 0xC2: False, 0xC3: True}.get(tag)


class Editor:
    """Neovim, and the screen that it has drawn."""

    def __init__(self, path, tryck):
        self.process = subprocess.Popen(
            ["nvim", "--clean", "--embed", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "TRYCK": tryck},
        )
        self.received, self.count, self.answers = b"", 0, {}
        self.grid, self.styles = {}, {0: {}}
        self.ask("nvim_ui_attach", COLUMNS, ROWS, {"rgb": True, "ext_linegrid": True})

    def ask(self, method, *arguments):
        self.count += 1
        number = self.count
        self.process.stdin.write(pack([0, number, method, list(arguments)]))
        self.process.stdin.flush()
        end = time.monotonic() + 30
        while number not in self.answers:
            if time.monotonic() > end:
                sys.exit(f"picture.py: Neovim does not answer {method}.")
            self.read(0.1)
        error, result = self.answers.pop(number)
        if error:
            sys.exit(f"picture.py: {method}: {error}")
        return result

    def wait(self, expression):
        """Waits until an expression of Lua is true."""
        end = time.monotonic() + 30
        while not self.ask("nvim_exec_lua", f"return {expression}", []):
            if time.monotonic() > end:
                sys.exit(f"picture.py: this did not become true: {expression}")
            self.read(0.02)

    def read(self, seconds):
        if select.select([self.process.stdout], [], [], seconds)[0]:
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                sys.exit("picture.py: Neovim has ended.")
            self.received += data
        while self.received:
            unpacker = Unpacker(self.received)
            try:
                message = unpacker.value()
            except Incomplete:
                return
            self.received = self.received[unpacker.at :]
            if message[0] == 1:
                self.answers[message[1]] = (message[2], message[3])
            elif message[0] == 2 and message[1] == "redraw":
                for name, *batches in message[2]:
                    for batch in batches:
                        self.draw(name, batch)

    def draw(self, name, values):
        if name == "default_colors_set":
            self.styles[0] = {"foreground": 0xD8DEE9, "background": 0x1E222A}
        elif name == "hl_attr_define":
            self.styles[values[0]] = values[1]
        elif name == "grid_clear":
            self.grid = {}
        elif name == "grid_line":
            _, row, column, cells = values[:4]
            style = 0
            for cell in cells:
                style = cell[1] if len(cell) > 1 else style
                for _ in range(cell[2] if len(cell) > 2 else 1):
                    self.grid[row, column] = (cell[0], style)
                    column += 1
        elif name == "grid_scroll":
            _, top, bottom, left, right, rows, _ = values
            order = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
            for row in order:
                for column in range(left, right):
                    self.grid[row, column] = self.grid.get((row + rows, column), (" ", 0))

    def page(self):
        """The screen as HTML."""
        lines = []
        for row in range(ROWS):
            cells = [self.grid.get((row, column), (" ", 0)) for column in range(COLUMNS)]
            lines.append("".join(f'<span style="{self.css(style)}">{html.escape(text)}</span>' for text, style in cells))
        css = "margin:0;padding:14px;background:#1e222a;color:#d8dee9;font:15px/20px DejaVu Sans Mono,monospace"
        return f'<!doctype html><meta charset="utf-8"><body style="{css}"><pre style="margin:0;font:inherit">' + "\n".join(lines)

    def css(self, number):
        style = {**self.styles[0], **self.styles.get(number, {})}
        front, back = style["foreground"], style["background"]
        if style.get("reverse"):
            front, back = back, front
        css = f"color:#{front:06x};background:#{back:06x}"
        if style.get("bold"):
            css += ";font-weight:bold"
        if style.get("underline") or style.get("undercurl"):
            css += f";text-decoration:underline wavy #{style.get('special', front):06x}"
        return css


def main():
    [output] = sys.argv[1:]
    tryck = os.path.abspath(os.environ.get("TRYCK", ".build/debug/tryck"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "home.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(RULES)
        editor = Editor(path, tryck)
        for line in SETTINGS.strip().splitlines():
            editor.ask("nvim_command", line)
        editor.ask(
            "nvim_exec_lua",
            "local id = vim.lsp.start_client({name = 'tryck', cmd = {vim.env.TRYCK, 'language-server'},"
            " root_dir = vim.fn.getcwd()}); vim.lsp.buf_attach_client(0, id);"
            " vim.bo.omnifunc = 'v:lua.vim.lsp.omnifunc'", [])
        editor.wait("#vim.diagnostic.get(0) > 0")
        editor.ask("nvim_win_set_cursor", 0, [11, RULES.splitlines()[10].index("}")])
        editor.ask("nvim_input", "i<C-x><C-o>")
        editor.wait("vim.fn.pumvisible() == 1")
        # A screen is complete when Neovim has answered after it was drawn.
        editor.ask("nvim_command", "redraw")
        editor.read(0.2)
        page = os.path.join(folder, "page.html")
        with open(page, "w", encoding="utf-8") as file:
            file.write(editor.page())
        editor.process.kill()
        editor.process.wait()
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={folder}/chromium", f"--screenshot={os.path.abspath(output)}",
             f"--window-size={COLUMNS * 9 + 46},{ROWS * 20 + 28}", f"file://{page}"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


main()
