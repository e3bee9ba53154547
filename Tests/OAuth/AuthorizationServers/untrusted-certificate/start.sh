#!/usr/bin/env bash
# Starts a server on the loopback address whose certificate no system trusts: openssl's own. Needs curl and openssl.
#
#   start.sh STATE_FOLDER [PORT]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: start.sh STATE_FOLDER [PORT]}"
STATE_DIR=$(cd "$1" && pwd)
port=${2:-8794}
. "$here/../common.sh"

"$here/../stop.sh" "$STATE_DIR"
refuse_busy_port "$port"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$STATE_DIR/key.pem" -out "$STATE_DIR/certificate.pem" -days 2 \
    -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2> "$STATE_DIR/server.log"
launch "$STATE_DIR/server.log" openssl s_server -accept "127.0.0.1:$port" -www \
    -key "$STATE_DIR/key.pem" -cert "$STATE_DIR/certificate.pem"
# A client that trusts this one certificate is answered: all else is right.
export CURL_CA_BUNDLE=$STATE_DIR/certificate.pem
wait_until_answered "https://127.0.0.1:$port/"
