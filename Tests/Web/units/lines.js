// Lines of the daemon's stream, as the tests of the pure functions need them.

export const at = (milliseconds) => new Date(milliseconds).toISOString();

export const event = (name, milliseconds, more = {}) => ({
  kind: "event", button: "kitchen", id: "80e4da000001", event: name, queued: false, age_ms: 0, at: at(milliseconds), ...more,
});

export const rule = (outcome, more = {}) => ({
  kind: "rule", rule: "kitchen_toggle", button: "kitchen", event: "click", outcome, run: 1, ...more,
});

export const publish = (topic, payload, more = {}) => ({kind: "publish", topic, payload, qos: 0, retain: false, ...more});

export const program = (command, run, more = {}) => ({
  kind: "process", rule: "kitchen_toggle", command: [command], status: 0, duration_ms: 3, stdout: "", stderr: "", run, ...more,
});

export const button = (more = {}) => ({
  name: "kitchen", id: "80e4da000001", nickname: "kitchen", model: "flic2", state: "ready", is_connection_wanted: true,
  waits_for_space: false, battery: 99, battery_mv: 2999, battery_low: false, rssi: -60, radio: "simulated", ...more,
});

export const status = (more = {}) => ({
  version: "0.1.0", uptime_s: 90, ok: true, faults: [], warnings: [],
  radios: [{name: "simulated", state: "ready", fault: null, advice: null, links: 1, limit: null, waiting: []}],
  broker: {url: "mqtt://localhost:1883", state: "connected"},
  rules: {loaded: 7, state: "ok", started: 3, failed: 0, contradictions: []}, simulated_buttons: ["kitchen"], ...more,
});
