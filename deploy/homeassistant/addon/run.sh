#!/bin/sh
# What the add-on starts: makes a configuration of its options and of what the Supervisor knows about the broker, and
# becomes tryckd. A tryck.yaml among the add-on's files is taken instead, as it is.
#
# The variables are for a test: on a Home Assistant none of them but the token is set.
set -eu
data=${TRYCK_ADDON_DATA:-/data}
files=${TRYCK_ADDON_FILES:-/config}
supervisor=${TRYCK_SUPERVISOR:-http://supervisor}
examples=${TRYCK_EXAMPLES:-/etc/tryck/rules}

say() { printf '%s\n' "$*" >&2; }

option() { jq -r --arg name "$1" '.[$name] // ""' "$data/options.json"; }

# What the Mosquitto add-on told the Supervisor; fails where there is none. The token is no argument, which others could see.
service() {
    printf 'header = "Authorization: Bearer %s"\n' "${SUPERVISOR_TOKEN-}" \
        | curl -fsS --max-time 20 --config - "$supervisor/services/mqtt"
}

umask 077
state=$data/state
mkdir -p "$state"
if [ ! -e "$files/rules/home.yaml" ]; then
    mkdir -p "$files/rules"
    cp "$examples/home.yaml" "$files/rules/home.yaml"
    say "Rules to begin with are in rules/home.yaml of this add-on's files."
fi

if [ -e "$files/tryck.yaml" ]; then
    say "The options do not count: there is a tryck.yaml among this add-on's files."
    exec tryckd --config "$files/tryck.yaml" --state-directory "$state"
fi

if [ -n "$(option broker)" ]; then
    broker=$(jq '{broker, username, password} | with_entries(select(.value != null and .value != ""))' \
        "$data/options.json")
elif found=$(service 2>/dev/null); then
    broker=$(printf '%s' "$found" | jq '.data
        | {broker: "\(if .ssl then "mqtts" else "mqtt" end)://\(.host):\(.port)", username, password}
        | with_entries(select(.value != null and .value != ""))')
else
    say "There is no MQTT broker: install the Mosquitto broker add-on, or name another in this add-on's configuration."
    say "Until then rules only start programs and call web hooks."
    broker='{"broker": "none"}'
fi

# JSON is YAML, and jq quotes whatever somebody types. The password is no argument here either.
MQTT=$broker jq --arg rules "$files/rules/home.yaml" '{
    bluetooth: {transport: (.adapter // "auto")},
    mqtt: ($ENV.MQTT | fromjson),
    rules: $rules,
    log: {level: (.log_level // "info")}
}' "$data/options.json" >"$data/tryck.yaml"

exec tryckd --config "$data/tryck.yaml" --state-directory "$state"
