#!/bin/sh
# The start script of the add-on: writes a configuration from the options and from the Supervisor's data about the broker,
# and runs tryckd and the page. If the add-on's files have a tryck.yaml, that file is used instead.
#
# The variables are for a test. On Home Assistant, only the token is set.
set -eu
data=${TRYCK_ADDON_DATA:-/data}
files=${TRYCK_ADDON_FILES:-/config}
supervisor=${TRYCK_SUPERVISOR:-http://supervisor}
examples=${TRYCK_EXAMPLES:-/etc/tryck/rules}
user=${TRYCK_ADDON_USER:-tryck}
# The address of the host at which the Supervisor reaches the page.
page=${TRYCK_ADDON_PAGE:-172.30.32.1:8125}

say() { printf '%s\n' "$*" >&2; }

option() { jq -r --arg name "$1" '.[$name] // ""' "$data/options.json"; }

# Prints the data of the Mosquitto add-on; fails without that add-on. The token is not an argument, because arguments are public.
service() {
    printf 'header = "Authorization: Bearer %s"\n' "${SUPERVISOR_TOKEN-}" \
        | curl -fsS --max-time 20 --config - "$supervisor/services/mqtt"
}

# Runs the daemon and the page with this configuration. Neither keeps root or the token, so that programs of rules have neither.
# The daemon of an earlier version was root, so its files get another owner, and the user's files become readable for the group.
#
# The daemon replaces this script. The page is started again when it ends, and ends with the daemon.
run() {
    as=
    if [ "$(id -u)" = 0 ] && id "$user" >/dev/null 2>&1; then
        group=$(id -g "$user")
        runtime=${RUNTIME_DIRECTORY:-$data/run}
        mkdir -p "$runtime"
        chown -hR "$user:$group" "$state" "$pages" "$runtime"
        [ ! -e "$data/tryck.yaml" ] || chown -h "$user" "$data/tryck.yaml"
        chgrp -hR "$group" "$files"
        chmod -R g+rX "$files"
        # The page saves rules. Whoever edits rules can start programs as this user anyway.
        [ ! -e "$files/rules" ] || chown -hR "$user:$group" "$files/rules"
        as="--reuid=$user --regid=$group --init-groups"
    fi
    unset SUPERVISOR_TOKEN HASSIO_TOKEN
    # The words of $as are options.
    # shellcheck disable=SC2086
    if grep -q '^ *"\{0,1\}web"\{0,1\}:' "$1"; then
        # The kernel lets the daemon's end signal only processes of the daemon's user, and only if the signal was asked for
        # before.
        setpriv --pdeathsig KILL $as sh -c '
            [ "$PPID" = "$1" ] || exit 0
            shift
            while :; do setpriv --pdeathsig TERM "$@"; sleep 60; done' page $$ \
            tryck-web --config "$1" --state-directory "$pages" &
    fi
    # shellcheck disable=SC2086
    exec setpriv $as tryckd --config "$1" --state-directory "$state"
}

umask 077
state=$data/state
pages=$data/page
mkdir -p "$state" "$pages"
if [ ! -e "$files/rules/home.yaml" ]; then
    (
        umask 022
        mkdir -p "$files/rules"
        cp "$examples/home.yaml" "$files/rules/home.yaml"
        chmod 644 "$files/rules/home.yaml"
    )
    say "Example rules are in rules/home.yaml of this add-on's files."
fi

if [ -e "$files/tryck.yaml" ]; then
    say "The options are ignored, because this add-on's files have a tryck.yaml."
    run "$files/tryck.yaml"
fi

if [ -z "$(option adapter)" ]; then
    say "Choose a Bluetooth adapter in this add-on's configuration. Home Assistant cannot use the adapter while Tryck runs."
    exit 78
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
    say "Until then, rules can only start programs and call web hooks."
    broker='{"broker": "none"}'
fi

# JSON is valid YAML, and jq quotes all values. The password is not an argument, because arguments are public.
# Home Assistant opens the page of an add-on at an address of its own. The container has the add-on's name, with "-" for "_".
MQTT=$broker jq --arg link "homeassistant://hassio/ingress/$(uname -n | tr - _)" --arg rules "$files/rules/home.yaml" --arg page "$page" --arg state "$state" '{
    bluetooth: {transport: .adapter},
    mqtt: ($ENV.MQTT | fromjson),
    rules: $rules,
    state_directory: $state,
    log: {level: (.log_level // "info")},
    web: {listen: $page, trust_ingress: true, url: $link}
}' "$data/options.json" >"$data/tryck.yaml"

run "$data/tryck.yaml"
