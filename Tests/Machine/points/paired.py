"""The service with a paired button and rules, within the limits of its unit."""
from box import SERIAL, Box, equal
from points.point import point
from program import Failure

# $PORT is the port of the web server. The programs write their results into the state directory.
RULES = f"""\
version: 1
buttons: {{kitchen: {SERIAL}}}
rules:
  - id: lamp
    triggers: {{button: kitchen, event: click}}
    actions: {{publish: {{topic: lamp/set, payload: "ON"}}}}
  - id: program
    triggers: {{button: kitchen, event: hold}}
    actions: {{run: [/usr/local/bin/explore, /var/lib/tryck/explored]}}
  - id: hook
    triggers: {{button: kitchen, event: double_click}}
    actions: {{http: {{url: "http://hooks.test:$PORT/pressed", method: POST, body: x}}}}
"""
DROP_INS = '/etc/systemd/system/tryck.service.d'


@point('another configuration is good after "tryck check" and a restart; its broker is found by name')
def configured(box: Box) -> None:
    mark = box.journal_mark()
    box.machine.do(f"""
        sed -i 's|^  transport: auto|&\\n  trust_roots: ["{box.button.trust_root}"]|
            s|mqtt://localhost|mqtt://broker.test|' /etc/tryck/tryck.yaml
        tryck check && systemctl restart tryck""")
    box.journal_until('broker.test', mark)
    box.well()
    # The log must warn that simulated buttons are trusted.
    warnings = box.journal(mark, '--priority', 'warning')
    if len(warnings) != 1 or box.button.trust_root[:16] not in warnings[0]:
        raise Failure(f'its warnings: {warnings}')


@point('"sudo tryck pair" pairs the button')
def pairs(box: Box) -> None:
    box.listen()
    mark = box.message_mark()
    said = box.machine.do('tryck pair --time 120', within=150)
    if SERIAL not in said:
        raise Failure(f'it does not say which button it is: {said}')
    box.message('bridge/event .*button_paired', mark)


@point('a press arrives at mosquitto_sub')
def pressed(box: Box) -> None:
    box.press_arrives()


@point('rules are read when they are saved, and the next press runs them')
def rules(box: Box) -> None:
    text = RULES.replace('$PORT', str(box.web.port))
    mark = box.journal_mark()
    with box.same_process():
        # As editors save: a file that is there only half would be read as such where writing it takes longer than 200 ms.
        box.machine.do(
            f"cd /etc/tryck/rules && cat >home.yaml.new <<'END'\n{text}END\nmv home.yaml.new home.yaml && tryck check")
        box.machine.until('tryck rules | grep lamp', 'the rule is there')
        messages = box.message_mark()
        box.button.press()
        box.message('^lamp/set ON$', messages)
    equal(box.journal(mark, '--priority', 'warning'), [], 'its warnings')


def explore(box: Box) -> dict[str, str]:
    """The permissions of programs that rules start."""
    box.machine.do("""
        rm -f /var/lib/tryck/explored*
        echo hello >/home/alice/hello && chmod 755 /home/alice
        install -d -o tryck /srv/doorbell
        cat >/usr/local/bin/explore <<'END'
#!/bin/sh
may() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name yes"; else echo "$name no"; fi; }
{
    echo "capabilities $(sed -n 's/^CapEff:.//p' /proc/self/status)"
    may home cat /home/alice/hello
    may srv touch /srv/doorbell/touched
    may tmp touch /tmp/touched
    may uptime cat /proc/uptime
    may network mosquitto_pub -h broker.test -t explored -m x
} >"$1.new"
mv "$1.new" "$1"
END
        chmod 755 /usr/local/bin/explore""")
    box.button.press('hold')
    found = box.machine.until('cat /var/lib/tryck/explored', 'a rule starts the program')
    return dict(line.split() for line in found.splitlines())


@point('a program of a rule may use the network and its /tmp; it has no capability, and sees nothing of /home')
def program(box: Box) -> None:
    equal(explore(box), {
        'capabilities': '0' * 16, 'home': 'no', 'srv': 'no', 'tmp': 'yes', 'uptime': 'no', 'network': 'yes'}, 'it may')
    equal(box.machine.run('ls /tmp/touched').status, 2, 'whether everybody sees its /tmp')


@point('a web hook arrives at a host that is found by its name')
def hook(box: Box) -> None:
    box.button.press('double_click')
    equal(box.web.request(), 'hooks.test/pressed', 'the request')


@point('metrics.conf, as it says itself, lets the metrics be written where the node exporter reads them')
def metrics(box: Box) -> None:
    box.machine.do(f"""
        install -d /var/lib/prometheus/node-exporter
        printf 'metrics:\\n  textfile: /var/lib/prometheus/node-exporter/tryck.prom\\n' >>/etc/tryck/tryck.yaml
        {commands('metrics.conf', box)}""")
    box.machine.until('runuser -u nobody -- grep "^tryck_up 1" /var/lib/prometheus/node-exporter/tryck.prom', 'metrics')


@point('programs.conf, as it says itself, lets programs read /home and write elsewhere')
def programs(box: Box) -> None:
    mark = box.button.mark
    box.machine.do(commands('programs.conf', box))
    box.button.notes('session ready', since=mark)
    equal(explore(box), {
        'capabilities': '0' * 16, 'home': 'yes', 'srv': 'yes', 'tmp': 'yes', 'uptime': 'yes', 'network': 'yes'}, 'it may')
    box.button.press('double_click')
    equal(box.web.request(), 'hooks.test/pressed', 'the request')
    box.figure(f'exposure {box.exposure()} of 10 with programs.conf')
    box.machine.do(f'rm {DROP_INS}/programs.conf && systemctl daemon-reload')
    box.restart()


def commands(example: str, box: Box) -> str:
    """The commands in an example file, without sudo, which the machine does not have."""
    file = f'/usr/share/doc/tryck/examples/{example}'
    found = [line.strip('# ') for line in box.machine.do(f'grep "^#   sudo " {file}').splitlines()]
    return 'set -e\n' + '\n'.join(found).replace('sudo ', '')
