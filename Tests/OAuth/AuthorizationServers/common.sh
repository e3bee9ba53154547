# Shared by the scripts of this folder; each sets $here (its own folder) and $STATE_DIR first.

# A virtual environment that has what requirements.txt pins; made anew when that changes.
install_packages() {
    local venv=$STATE_DIR/venv
    cmp -s "$here/requirements.txt" "$venv/installed.txt" && return
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" -q install --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/installed.txt"
}

refuse_busy_port() {
    if curl -so /dev/null "http://127.0.0.1:$1/"; then
        echo "Port $1 is in use; name another one." >&2
        exit 1
    fi
}

# Waits until this URL is answered, as long as the server lives.
wait_until_answered() {
    local what="did not answer $1"
    for _ in $(seq 300); do
        curl -sf -o /dev/null "$1" && return
        kill -0 "$(cat "$STATE_DIR/pid")" 2> /dev/null || { what="ended before it answered $1"; break; }
        sleep 0.1
    done
    tail -n 20 "$STATE_DIR/server.log" >&2 || true
    echo "$(basename "$here") $what; above is the end of $STATE_DIR/server.log." >&2
    exit 1
}

# Starts a server in a process group of its own: all of its processes can be ended at once. Its output goes to a file.
# It inherits nothing else that is open: who waits for the script to end must not wait for the server.
launch() {
    local log=$1
    shift
    set -m
    (
        for descriptor in /dev/fd/*; do
            number=${descriptor##*/}
            if [ "$number" -gt 2 ]; then eval "exec $number>&-" 2> /dev/null || true; fi
        done
        exec "$@"
    ) >> "$log" 2>&1 < /dev/null &
    echo $! > "$STATE_DIR/pid"
    set +m
}
