#!/usr/bin/env bash
# Starts oidc-provider-mock on the loopback address: refresh tokens do not rotate, and all sessions are gone when it ends.
# Needs python3 with venv, curl and openssl; installs the rest from PyPI at the first start.
#
#   start.sh STATE_FOLDER [PORT]
#   start.sh STATE_FOLDER PORT again    keeps the log
#
# STATE_FOLDER/access.log has a line per request. ACCESS_TTL is the life of an access token in seconds (60).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: start.sh STATE_FOLDER [PORT [again]]}"
STATE_DIR=$(cd "$1" && pwd)
port=${2:-8793}
. "$here/../common.sh"

"$here/../stop.sh" "$STATE_DIR"
refuse_busy_port "$port"
if [ "${3:-}" != again ]; then
    install_packages
    rm -f "$STATE_DIR"/*.log
fi

NO_COLOR=1 launch "$STATE_DIR/access.log" "$STATE_DIR/venv/bin/oidc-provider-mock" --host 127.0.0.1 --port "$port" \
    --token-max-age "${ACCESS_TTL:-60}" --user alice
ln -sf access.log "$STATE_DIR/server.log"
wait_until_answered "http://127.0.0.1:$port/.well-known/openid-configuration"
