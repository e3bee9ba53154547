#!/usr/bin/env bash
# Signs a user in as a browser does, and prints "CODE VERIFIER"; the server takes a verifier and does not look at it.
#
#   authorize.sh PORT CLIENT_ID
set -euo pipefail
base=http://127.0.0.1:${1:?usage: authorize.sh PORT CLIENT_ID}
client=${2:?usage: authorize.sh PORT CLIENT_ID}
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
query="response_type=code&client_id=$client&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcb&scope=openid+email&state=xyz"
location=$(curl -sf -o /dev/null -w '%{redirect_url}' -d sub=alice \
    "$base/oauth2/authorize?$query&code_challenge=$challenge&code_challenge_method=S256")
code=$(sed -n 's/.*[?&]code=\([^&]*\).*/\1/p' <<< "$location")
[ -n "$code" ]
echo "$code $verifier"
