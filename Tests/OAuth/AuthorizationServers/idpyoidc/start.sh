#!/usr/bin/env bash
# Starts idpyoidc on the loopback address: it takes pushed requests (RFC 9126), binds tokens to the key of a proof where
# there is one (RFC 9449), and rotates refresh tokens. All sessions are gone when it ends. Needs python3 with venv, and curl;
# installs the rest from PyPI at the first start.
#
#   start.sh STATE_FOLDER [PORT]
#
# The client is "app", without a secret. STATE_FOLDER/server.log has what went wrong.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: start.sh STATE_FOLDER [PORT]}"
STATE_DIR=$(cd "$1" && pwd)
port=${2:-8796}
. "$here/../common.sh"

"$here/../stop.sh" "$STATE_DIR"
refuse_busy_port "$port"
install_packages
rm -rf "$STATE_DIR"/*.log "$STATE_DIR/private"

# It writes its keys where it is started.
cd "$STATE_DIR"
launch "$STATE_DIR/server.log" "$STATE_DIR/venv/bin/python" "$here/server.py" "$port"
wait_until_answered "http://127.0.0.1:$port/.well-known/openid-configuration"
