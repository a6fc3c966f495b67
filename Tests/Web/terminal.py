"""A picture of what a command prints to a terminal."""
import html
import os
import pty
import re
import subprocess
from pathlib import Path

from browser import Browser
from house import PROJECT

# The colours of the escape sequences that Tryck uses.
COLOURS = {
    '31': '#ff9c92', '32': '#6fd096', '33': '#f0bf66', '34': '#8ab8ff', '35': '#e3a6f2', '36': '#7fd6de', '2': '#a8a49d',
    '90': '#a8a49d',
}
PAGE = '''<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #16171a; color: #eceae6; font: 14px/1.5 "DejaVu Sans Mono", monospace; }}
pre {{ margin: 0; padding: 22px 26px; font: inherit; white-space: pre; }}
</style><pre>{}</pre>'''


def output(command: list[str]) -> str:
    """Runs a command on a terminal of 110 columns, so that it uses colours."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, 'TERM': 'xterm-256color', 'COLUMNS': '110', 'LANG': 'C.UTF-8'}
    environment.pop('NO_COLOR', None)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    text = b''
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # The terminal's other end is closed.
            break
        if not chunk:
            break
        text += chunk
    process.wait()
    return text.decode(errors='replace').replace('\r\n', '\n')


def as_html(text: str) -> str:
    """Text with the colours of its escape sequences."""
    parts, style = [], ''
    for piece in re.split(r'(\x1b\[[0-9;?]*[A-Za-z])', text):
        if match := re.fullmatch(r'\x1b\[([0-9;]*)m', piece):
            codes = match[1].split(';')
            style = '' if codes in ([''], ['0']) else style
            style += ''.join(f'color: {COLOURS[code]};' for code in codes if code in COLOURS)
            style += 'font-weight: 700;' if '1' in codes else ''
        elif piece and not piece.startswith('\x1b'):
            parts.append(f'<span style="{style}">{html.escape(piece)}</span>')
    return ''.join(parts)


def picture(browser: Browser, command: list[str], shown: str, path: Path) -> None:
    """Writes a picture of a prompt with `shown`, and of what the command prints."""
    prompt = f'<span style="color: {COLOURS["90"]}">$</span> <b>{html.escape(shown)}</b>\n'
    page = path.with_suffix('.html')
    page.write_text(PAGE.format(prompt + as_html(output(command).rstrip().replace(f'{PROJECT}/', ''))))
    browser.resize(960, 400)
    browser.driver.get(page.resolve().as_uri())
    browser.screenshot(path)
    page.unlink()
