// The rules that the daemon has loaded: state, counters, last run; enabled and disabled, run once or tried.

import {drawList, h, setAttribute, setText} from "./dom.js";
import {count, duration, outcomeTone, outcomeWords, shortOutcome, spaced, timeOrDate} from "./words.js";

/**
 * The counters of a rule in words: `12 runs, 1 failed, 3 stopped`. They begin anew when the rule changes, while its last run
 * is kept.
 */
export function counters({stats, last_run: ran}) {
  const stopped = Object.entries(stats)
    .filter(([name]) => name.startsWith("dropped_") || name === "disabled").reduce((sum, [, number]) => sum + number, 0);
  return [
    count(stats.started ?? 0, "run") + (ran && !stats.started ? " since it was changed" : ""),
    stats.failed ? `${stats.failed} failed` : "", stopped ? `${stopped} stopped` : "",
  ].filter(Boolean).join(", ");
}

/** The last thing that became of a rule: its run, or the gate that has stopped it. */
export function lastOf(rule) {
  const {last_run: ran, last_stopped: stopped} = rule;
  const run = ran && {at: Date.parse(ran.started_at), outcome: ran.result ?? "started", cause: ran};
  const stop = stopped && {at: Date.parse(stopped.at), outcome: stopped.gate, cause: stopped};
  if (!run || !stop) return run || stop;
  return run.at >= stop.at ? run : stop;
}

/**
 * @param {import("./main.js").App} app
 * @param {function({file: string, line: number, column: number})} onopen shows a place in the editor
 */
export function createRuleList(app, onopen) {
  // Where rules are not edited, they are not run from the page, as they can start programs.
  const mayRun = app.session().edit_rules;
  const list = h("ul", {class: "rule-list"});
  const none = h("p", {class: "hint"}, "No rule is loaded.");
  const element = h(
    "section", {class: "panel", "aria-label": "Rules that run"}, h("header", {}, h("h2", {}, "What runs")), none, list);

  function createRow(rule) {
    let known = rule;
    const toggle = h("input", {type: "checkbox", role: "switch", onchange: enable});
    const name = h("button", {type: "button", class: "link", onclick: () => onopen(known)});
    const tag = h("span", {class: "tag"});
    const last = h("span", {class: "muted"});
    const counts = h("span", {class: "muted"});
    const result = h("div", {class: "result", role: "status"});
    const once = h("button", {type: "button", class: "quiet", onclick: () => run(false)}, "Run");
    const dry = h("button", {type: "button", class: "quiet", onclick: () => run(true)}, "Dry run");
    const element = h(
      "li", {}, h("div", {class: "line"}, toggle, name, h("span", {class: "buttons"}, mayRun ? once : null, dry)),
      h("div", {class: "line under"}, tag, last, counts), result);

    async function enable() {
      const name = toggle.checked ? "rules/enable" : "rules/disable";
      const answer = await app.ask(name, {id: known.id});
      if (answer === undefined) toggle.checked = known.enabled;
      else app.refresh("rules");
    }

    async function run(isDry) {
      try {
        const answer = await app.server.request("rules/run", {id: known.id, dry_run: isDry});
        const lines = (answer.trace?.steps ?? []).map((step) => h("li", {}, h("code", {}, step.text)));
        result.replaceChildren(
          h("p", {}, isDry ? "It would do this. Nothing was performed." : `It ran: ${outcomeWords(answer.outcome)}.`),
          h("ol", {}, lines));
        app.refresh("rules");
      } catch (refusal) {
        setText(result, refusal.message);
      }
    }

    return {
      element,
      draw(rule) {
        if (rule === known.drawn) return;
        known = {...rule, drawn: rule};
        toggle.checked = rule.enabled;
        setAttribute(toggle, "aria-checked", String(rule.enabled));
        setAttribute(toggle, "aria-label", `${rule.id} is enabled`);
        setText(name, rule.alias ?? rule.id);
        setAttribute(name, "title", `${rule.file}:${rule.line}:${rule.column}`);
        setAttribute(once, "aria-label", `Run ${rule.id} once`);
        setAttribute(dry, "aria-label", `Dry run of ${rule.id}`);
        element.classList.toggle("off", !rule.enabled);
        const latest = lastOf(rule);
        tag.className = `tag ${latest ? outcomeTone(latest.outcome) : "none"}`;
        setText(tag, latest ? shortOutcome(latest.outcome) : "not run yet");
        const cause = latest?.cause.button ? `${latest.cause.button} ${spaced(latest.cause.event)}` : "by request";
        const length = latest?.cause.duration_ms ? `, ${duration(latest.cause.duration_ms)}` : "";
        setText(last, latest ? `${timeOrDate(latest.at)}, ${cause}${length}` : "");
        setText(counts, counters(rule));
      },
    };
  }

  return {
    element,
    draw(state) {
      none.hidden = state.rules.length > 0;
      drawList(list, state.rules, (rule) => rule.id, createRow);
    },
  };
}
