#!/usr/bin/env bash
# Starts django-oauth-toolkit on the loopback address, with a fresh database: refresh tokens rotate, and the reuse of one
# revokes its family. Needs python3 with venv, curl and openssl; installs the rest from PyPI at the first start.
#
#   start.sh STATE_FOLDER [PORT]
#   start.sh STATE_FOLDER PORT again    with the database of the last time
#
# STATE_FOLDER/access.log has a line per request. ACCESS_TTL is the life of an access token in seconds (60), and
# GRACE for how many a spent refresh token is taken again (0).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: start.sh STATE_FOLDER [PORT [again]]}"
STATE_DIR=$(cd "$1" && pwd)
port=${2:-8791}
export STATE_DIR DJANGO_SETTINGS_MODULE=authserver PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
. "$here/../common.sh"

"$here/../stop.sh" "$STATE_DIR"
refuse_busy_port "$port"

django() {
    "$STATE_DIR/venv/bin/python" -W ignore -m django "$@" >> "$STATE_DIR/setup.log" 2>&1 && return
    tail -n 20 "$STATE_DIR/setup.log" >&2
    echo "django-oauth-toolkit could not be set up by \"django $1\"; above is the end of $STATE_DIR/setup.log." >&2
    exit 1
}

register() {
    django createapplication --redirect-uris http://127.0.0.1/cb --skip-authorization --client-id "$@"
}

if [ "${3:-}" != again ]; then
    install_packages
    rm -f "$STATE_DIR"/*.log "$STATE_DIR"/db.sqlite3*
    django migrate
    DJANGO_SUPERUSER_PASSWORD=wonderland django createsuperuser --noinput --username alice --email alice@example.org
    # A secret with characters that RFC 6749, section 2.3.1, has encoded.
    secret='s3cr:t %+/&'
    register public public authorization-code
    register confidential --client-secret "$secret" confidential authorization-code
    register machine --client-secret "$secret" confidential client-credentials
    register password --client-secret "$secret" confidential password
    register device public urn:ietf:params:oauth:grant-type:device_code
fi

launch "$STATE_DIR/server.log" "$STATE_DIR/venv/bin/gunicorn" authserver:application --bind "127.0.0.1:$port" --workers 2 --threads 8 \
    --log-level warning --access-logfile "$STATE_DIR/access.log"
wait_until_answered "http://127.0.0.1:$port/healthz"
