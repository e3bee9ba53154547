#!/usr/bin/env bash
# Starts authgent-server on the loopback address, with a fresh database: its token endpoint wants proofs of possession with a
# nonce (RFC 9449), and refresh tokens rotate. Needs python3 with venv, curl and openssl; installs the rest from PyPI at the
# first start.
#
#   start.sh STATE_FOLDER [PORT]
#
# STATE_FOLDER/access.log has a line per request, and STATE_FOLDER/client is the identifier of a public client.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: start.sh STATE_FOLDER [PORT]}"
STATE_DIR=$(cd "$1" && pwd)
port=${2:-8795}
. "$here/../common.sh"

"$here/../stop.sh" "$STATE_DIR"
refuse_busy_port "$port"
install_packages
rm -f "$STATE_DIR"/*.log "$STATE_DIR"/client "$STATE_DIR"/authgent.db*

AUTHGENT_SECRET_KEY=$(openssl rand -hex 32)
export AUTHGENT_SECRET_KEY AUTHGENT_DATABASE_URL="sqlite+aiosqlite:///$STATE_DIR/authgent.db"
export AUTHGENT_SERVER_URL="http://127.0.0.1:$port" AUTHGENT_REQUIRE_DPOP=true AUTHGENT_CONSENT_MODE=auto_approve
export AUTHGENT_TOKEN_RATE_LIMIT=100000 AUTHGENT_REGISTER_RATE_LIMIT=1000
# It writes its settings where it is started.
cd "$STATE_DIR"
launch "$STATE_DIR/access.log" "$STATE_DIR/venv/bin/python" -m uvicorn authgent_server.app:create_app --factory \
    --host 127.0.0.1 --port "$port" --no-use-colors
ln -sf access.log "$STATE_DIR/server.log"
wait_until_answered "http://127.0.0.1:$port/.well-known/oauth-authorization-server"
curl -sf -H 'Content-Type: application/json' "http://127.0.0.1:$port/register" -d '{
    "client_name": "public", "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code", "refresh_token"], "scope": "read"
}' | python3 -c 'import json, sys; print(json.load(sys.stdin)["client_id"])' > "$STATE_DIR/client"
