// The page Health: what is wrong with the command that mends it, radios, batteries, earlier faults, and a report.

import {battery, trend} from "./drawing.js";
import {drawList, h, isInactive, setInactive, setText} from "./dom.js";
import {doctorFailed, findings, verdict} from "./findings.js";
import {count, monthAndYear, spaced, timeOrDate} from "./words.js";

/** The most marks and runs in a report. */
const mostReported = 500;
const signs = {ok: "✓", warning: "!", problem: "✗"};
/** What a screen reader says in place of the sign. */
const spokenSigns = {ok: "well: ", warning: "to look at: ", problem: "problem: "};

/** @param {import("./main.js").App} app */
export function createHealth(app) {
  const sentence = h("p", {class: "lead", role: "status"});
  const list = h("ul", {class: "findings"});
  const radios = h("tbody", {});
  const batteries = h("tbody", {});
  const again = h("button", {type: "button", onclick: examine}, "Look again");
  const errors = h("ul", {class: "errors"});
  const noErrors = h("p", {class: "muted"}, "Nothing since the daemon was started.");
  const table = (caption, columns, body) => h(
    "div", {class: "scroll", tabindex: "0", role: "group", "aria-label": caption}, h(
      "table", {}, h("caption", {class: "hidden"}, caption),
      h("thead", {}, h("tr", {}, columns.map((name) => h("th", {scope: "col"}, name)))), body));
  const element = h(
    "div", {}, h("div", {class: "heading"}, h("h1", {}, "Health"), sentence),
    h("section", {class: "panel", "aria-label": "Findings"}, list,
      h("p", {class: "muted"}, h("code", {}, "tryck doctor"), " also looks at what this page cannot see: the state directory, the disk, an adapter without a daemon."),
      h("div", {class: "tools"}, again, h("button", {type: "button", onclick: download}, "Download a report"))),
    h("div", {class: "columns even"},
      h("section", {class: "panel", "aria-label": "Radios"}, h("header", {}, h("h2", {}, "Radios")),
        table("Radios", ["Radio", "State", "Buttons"], radios)),
      h("section", {class: "panel", "aria-label": "Batteries"}, h("header", {}, h("h2", {}, "Batteries")),
        table("Batteries", ["Button", "Charge", "Over time", "Measured"], batteries))),
    h("section", {class: "panel", "aria-label": "What was wrong"}, h("header", {}, h("h2", {}, "What was wrong")), noErrors, errors));

  function createFinding() {
    const sign = h("span", {class: "sign", "aria-hidden": "true"});
    const spoken = h("span", {class: "hidden"});
    const check = h("b", {});
    const text = h("span", {});
    const command = h("code", {});
    const copied = h("span", {class: "muted", role: "status"});
    const copy = h("button", {type: "button", class: "quiet small", onclick: async () => {
      try {
        // Over plain HTTP there is no clipboard.
        await navigator.clipboard.writeText(command.textContent);
        setText(copied, "Copied.");
      } catch {
        getSelection().selectAllChildren(command);
        setText(copied, "It is selected: press Ctrl+C.");
      }
    }}, "Copy");
    const mend = h("span", {class: "mend"}, command, copy, copied);
    const element = h("li", {}, sign, h("div", {}, spoken, check, text, mend));
    return {
      element,
      draw(finding) {
        element.className = finding.state;
        setText(sign, signs[finding.state]);
        setText(spoken, spokenSigns[finding.state]);
        setText(check, finding.check);
        setText(text, finding.sentence);
        mend.hidden = finding.mend === null;
        setText(command, finding.mend ?? "");
      },
    };
  }

  function createRadio() {
    const cells = [h("th", {scope: "row"}), h("td", {}), h("td", {class: "names"})];
    return {
      element: h("tr", {}, cells),
      draw(radio, state) {
        setText(cells[0], radio.name);
        setText(cells[1], radio.fault ?? spaced(radio.state));
        const heard = state.buttons.map((button) => [button.name, heardBy(button, radio.name)])
          .filter(([, rssi]) => rssi !== null);
        setText(cells[2], heard.map(([name, rssi]) => `${name} ${rssi} dBm`).join(", ") || count(radio.links, "connection"));
      },
    };
  }

  function createBattery() {
    const cells = [h("th", {scope: "row"}), h("td", {class: "charge"}), h("td", {}), h("td", {class: "muted"})];
    let last = null;
    return {
      element: h("tr", {}, cells),
      draw(button) {
        if (button === last) return;
        last = button;
        setText(cells[0], button.name);
        const volts = (button.battery_mv / 1000).toFixed(2);
        cells[1].replaceChildren(battery(button.battery, button.battery_low), ` ${button.battery}\u00a0%, ${volts}\u00a0V`);
        cells[2].replaceChildren(...trendOf(button.battery_weeks));
        setText(cells[3], button.battery_at ? timeOrDate(Date.parse(button.battery_at)) : "");
      },
    };
  }

  /** Looks at the files and at the machine. That takes longer than a status, because it runs the rules' own tests. */
  async function examine() {
    if (isInactive(again)) return;
    setInactive(again, true);
    setText(again, "Looking…");
    try {
      const {findings: machine} = await app.server.doctor();
      app.update((state) => ({...state, machine}));
    } catch (refusal) {
      app.update((state) => ({...state, machine: [doctorFailed(refusal.message)]}));
    }
    setInactive(again, false);
    setText(again, "Look again");
  }

  /** Everything that the page knows, without the texts of the rules. */
  function download() {
    const {status, buttons, rules, marks, runs} = app.state();
    const report = {
      made_at: new Date().toISOString(), page: app.session().version, status, buttons, rules,
      marks: marks.slice(-mostReported), runs: runs.slice(-mostReported),
    };
    const address = URL.createObjectURL(new Blob([JSON.stringify(report, null, 2)], {type: "application/json"}));
    const link = h("a", {href: address, download: "tryck-report.json"});
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  return {
    element,
    title: "Health",
    shown() {
      app.refresh("status");
      app.refresh("buttons");
      examine();
    },
    draw(state) {
      const all = findings(state);
      setText(sentence, verdict(all));
      drawList(list, all, (finding) => `${finding.check} ${finding.sentence}`, createFinding);
      drawList(radios, state.status?.radios ?? [], (radio) => radio.name, createRadio, state);
      const measured = state.buttons.filter((button) => button.battery_mv !== null)
        .sort((a, b) => a.battery_mv - b.battery_mv);
      drawList(batteries, measured, (button) => button.id, createBattery);
      const trouble = state.status?.last_errors ?? [];
      noErrors.hidden = trouble.length > 0;
      errors.replaceChildren(...trouble.map((error) => h(
        "li", {}, h("time", {class: "muted"}, timeOrDate(Date.parse(error.time))),
        ` ${error.message}${error.count > 1 ? ` (${error.count} times)` : ""}`)));
    },
  };
}

/** The line of a battery, and its oldest voltage in words; nothing until there are two weeks. */
function trendOf(weeks) {
  if (!weeks || weeks.mv.filter((value) => value !== null).length < 2) return [];
  const first = `${(weeks.mv[0] / 1000).toFixed(2)} V in ${monthAndYear(Date.parse(weeks.since))}`;
  return [trend(weeks.mv), h("span", {class: "muted"}, first)];
}

/** How loud a radio hears a button, in dBm; null if it does not. */
function heardBy(button, radio) {
  const heard = button.radios?.find?.((signal) => signal.name === radio || signal.radio === radio);
  if (heard) return heard.rssi ?? null;
  return button.radio === radio ? button.rssi : null;
}
