#!/usr/bin/env bash
# Stops the server that a start.sh started with this folder, if it runs, and all of its processes.
#
#   stop.sh STATE_FOLDER [SIGNAL]
#
# The signal is TERM; KILL leaves the server no time for anything.
set -euo pipefail
file=${1:?usage: stop.sh STATE_FOLDER [SIGNAL]}/pid
[ -f "$file" ] || exit 0
group=$(cat "$file")
kill "-${2:-TERM}" -- "-$group" 2> /dev/null || true
for _ in $(seq 100); do
    kill -0 -- "-$group" 2> /dev/null || break
    sleep 0.1
done
kill -KILL -- "-$group" 2> /dev/null || true
rm -f "$file"
