#!/usr/bin/env bash
# Registers a client (RFC 7591) whose secret the server then knows, and prints "CLIENT_ID SECRET". A client that is not
# registered may have any secret.
#
#   register.sh PORT client_secret_basic|client_secret_post
set -euo pipefail
base=http://127.0.0.1:${1:?usage: register.sh PORT METHOD}
method=${2:?usage: register.sh PORT METHOD}
reply=$(curl -sf "$base/oauth2/clients" -H 'Content-Type: application/json' \
    -d "{\"redirect_uris\": [\"http://127.0.0.1/cb\"], \"token_endpoint_auth_method\": \"$method\"}")
member() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<< "$reply"; }
echo "$(member client_id) $(member client_secret)"
