#!/usr/bin/env bash
# Starts django-oauth-toolkit on the loopback address, with a fresh database: refresh tokens rotate, and the reuse of one
# revokes its family. Needs python3 with venv, curl and openssl; installs the rest from PyPI at the first start.
#
#   start.sh STATE_FOLDER [PORT]
#
# STATE_FOLDER/access.log has a line per request. ACCESS_TTL is the life of an access token in seconds (60).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: start.sh STATE_FOLDER [PORT]}"
STATE_DIR=$(cd "$1" && pwd)
port=${2:-8791}
export STATE_DIR DJANGO_SETTINGS_MODULE=authserver PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1

"$here/stop.sh" "$STATE_DIR"
if curl -so /dev/null "http://127.0.0.1:$port/"; then
    echo "Port $port is in use; name another one." >&2
    exit 1
fi
if [ ! -x "$STATE_DIR/venv/bin/gunicorn" ]; then
    python3 -m venv "$STATE_DIR/venv"
    "$STATE_DIR/venv/bin/pip" -q install --disable-pip-version-check -r "$here/requirements.txt"
fi
rm -f "$STATE_DIR"/*.log "$STATE_DIR"/db.sqlite3*

django() { "$STATE_DIR/venv/bin/python" -W ignore -m django "$@" >> "$STATE_DIR/setup.log" 2>&1; }
django migrate
DJANGO_SUPERUSER_PASSWORD=wonderland django createsuperuser --noinput --username alice --email alice@example.org
django createapplication --client-id public --redirect-uris http://127.0.0.1/cb --skip-authorization \
    public authorization-code
# A secret with characters that RFC 6749, section 2.3.1, has encoded.
django createapplication --client-id confidential --client-secret 's3cr:t %+/&' --redirect-uris http://127.0.0.1/cb \
    --skip-authorization confidential authorization-code
django createapplication --client-id machine --client-secret 's3cr:t %+/&' confidential client-credentials

"$STATE_DIR/venv/bin/gunicorn" authserver:application --bind "127.0.0.1:$port" --workers 2 --threads 8 \
    --pid "$STATE_DIR/pid" --log-level warning --access-logfile "$STATE_DIR/access.log" \
    > "$STATE_DIR/server.log" 2>&1 < /dev/null &
for _ in $(seq 100); do
    curl -sf -o /dev/null "http://127.0.0.1:$port/healthz" && exit 0
    sleep 0.1
done
cat "$STATE_DIR/server.log" >&2
exit 1
