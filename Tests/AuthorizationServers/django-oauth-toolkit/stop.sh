#!/usr/bin/env bash
# Stops the server that start.sh started with this folder, if it runs.
#
#   stop.sh STATE_FOLDER
set -euo pipefail
file=${1:?usage: stop.sh STATE_FOLDER}/pid
[ -f "$file" ] || exit 0
pid=$(cat "$file")
kill "$pid" 2> /dev/null || true
for _ in $(seq 100); do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
done
rm -f "$file"
