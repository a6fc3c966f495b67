"""Writes a manual page from the help text of a program to standard output.

    manual.py tryck VERSION DATE HOMEPAGE      from "tryck --experimental-dump-help"
    manual.py tryckd VERSION DATE HOMEPAGE     from "tryckd --help"
    manual.py tryck-web VERSION DATE HOMEPAGE  from "tryck-web --help"

HOMEPAGE is the public address of the project, or empty.
"""

import json
import re
import sys

FILES = [
    ("/etc/tryck/tryck.yaml", "The configuration of the daemon."),
    ("/etc/tryck/rules/home.yaml", "The rules."),
    ("/etc/tryck/secrets.yaml, /etc/tryck/rules/secrets.yaml", "The values of !secret in these two files; mode 0600."),
    ("/var/lib/tryck", "Pairings, and the state of rules."),
    ("/run/tryck/control.sock", "The socket for commands; accessible to the group tryck."),
    ("/run/tryck-web/web.sock", "The socket on which tryck web asks for a link to the page; accessible to the group tryck."),
    ("/var/lib/tryck-web", "The browsers that are signed in to the page."),
]
STATUS = [
    ("0", "Success."),
    ("1", "The command found a fault, or the daemon refused the request."),
    ("64", "Wrong usage."),
    ("69", "A device, a broker or the daemon is not available."),
    ("70", "An internal error."),
    ("78", "The configuration has an error, or cannot be read."),
]
SIGNALS = [
    ("SIGHUP", "Loads the rules, and log.* of the configuration, again. Files with errors change nothing."),
    ("SIGTERM, SIGINT", "Ends the programs of rules, disconnects from the broker and the buttons, and ends."),
]


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in text.split("\n"))


def paragraphs(text):
    """Blocks that are indented are examples, and stay as they are."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if block.startswith("  "):
            blocks.append(f".PP\n.nf\n.RS 4\n{escape(re.sub('(?m)^  ', '', block))}\n.RE\n.fi")
        else:
            blocks.append(f".PP\n{escape(block)}")
    return blocks


def entry(term, text):
    return f".TP\n{term}\n{escape(text)}"


def section(title, entries):
    return [f".SH {title}"] + [entry(f"\\fB{escape(term)}\\fR", text) for term, text in entries]


def header(name, number, version, date, abstract):
    title = f'.TH {name.upper()} {number} {date} "Tryck {version}"'
    return [title, ".nh\n.ad l", ".SH NAME", f"{name} \\- {escape(abstract)}"]


def option_name(name):
    return ("-" if name["kind"] == "short" else "--") + name["name"]


def term(argument):
    if argument["kind"] == "positional":
        return f"\\fI{escape(argument['valueName'])}\\fR"
    names = ", ".join(f"\\fB{escape(option_name(name))}\\fR" for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} \\fI{escape(argument['valueName'])}\\fR"


def usage(argument):
    if argument["kind"] == "positional":
        text = f"\\fI{escape(argument['valueName'])}\\fR"
    else:
        text = f"\\fB{escape(option_name(argument['preferredName']))}\\fR"
        if argument["kind"] == "option":
            text += f" \\fI{escape(argument['valueName'])}\\fR"
    return (f"[{text}]" if argument["isOptional"] else text) + ("..." if argument["isRepeating"] else "")


def shown(commands):
    return [command for command in commands if command["shouldDisplay"] and command["commandName"] != "help"]


def command(words, entry_of, outer):
    """One command and those below it; `outer` are the arguments of those above it."""
    own = [
        argument
        for argument in entry_of.get("arguments", [])
        if argument["shouldDisplay"] and argument["valueName"] not in ("version", "help")
    ]
    below = shown(entry_of.get("subcommands", []))
    lines = [f".SS {escape(' '.join(words))}"]
    lines.append(" ".join([f"\\fB{escape(' '.join(words))}\\fR"] + [usage(argument) for argument in outer + own]))
    lines.append(f".PP\n{escape(entry_of['abstract'])}")
    lines += paragraphs(entry_of.get("discussion", ""))
    lines += [entry(term(argument), argument.get("abstract", "")) for argument in own]
    for child in below:
        lines += command(words + [child["commandName"]], child, [a for a in own if a["kind"] == "positional"])
    return lines


def commands_page(text, version, date):
    root = json.loads(text)["command"]
    page = header("tryck", 1, version, date, root["abstract"].removesuffix("."))
    page += [".SH SYNOPSIS", "\\fBtryck\\fR \\fIcommand\\fR [\\fIargument\\fR...]", ".SH DESCRIPTION"]
    page += paragraphs(root.get("discussion", ""))
    page.append(".PP\nEvery command takes \\fB\\-\\-help\\fR and \\fB\\-\\-version\\fR.")
    page.append(".SH COMMANDS")
    for child in shown(root["subcommands"]):
        page += command(["tryck", child["commandName"]], child, [])
    return page + section("FILES", FILES) + section("EXIT STATUS", STATUS) + [".SH SEE ALSO", ".BR tryckd (8)"]


def daemon_page(text, version, date):
    return service_page("tryckd", "the daemon for Flic buttons", "tryck.service", SIGNALS, text, version, date)


def web_page(text, version, date):
    signals = [("SIGTERM, SIGINT, SIGHUP", "Ends the program. Browsers stay signed in.")]
    return service_page("tryck-web", "the page of Tryck", "tryck-web.service", signals, text, version, date)


def service_page(program, abstract, unit, signals, text, version, date):
    synopsis, rest = text.split("\n\n", 1)
    description, rest = rest.split("\n\n", 1)
    options, example = rest.split("\n\n", 1)
    page = header(program, 8, version, date, abstract)
    page += [".SH SYNOPSIS", escape(" ".join(synopsis.removeprefix("USAGE: ").split()))]
    page += [".SH DESCRIPTION", escape(description), f".PP\nAs a service it is \\fB{escape(unit)}\\fR."]
    page.append(".SH OPTIONS")
    for name, value, said in re.findall(r"(?m)^  (--[a-z-]+)(?: ([A-Z]+))? +(.+(?:\n {10,}.+)*)", options):
        page.append(entry(f"\\fB{escape(name)}\\fR" + (f" \\fI{value}\\fR" if value else ""), " ".join(said.split())))
    page += [".SH EXAMPLE", escape(example.removeprefix("Example: ").strip())]
    page += section("SIGNALS", signals) + section("FILES", FILES)
    return page + section("EXIT STATUS", STATUS) + [".SH SEE ALSO", ".BR tryck (1)"]


program, version, date, homepage = sys.argv[1:]
page = {"tryck": commands_page, "tryckd": daemon_page, "tryck-web": web_page}[program](sys.stdin.read(), version, date)
if homepage:
    page.append(f".PP\n{escape(homepage)}")
print("\n".join(page))
