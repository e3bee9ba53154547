#!/usr/bin/env bash
# Signs a user in as a browser does, with PKCE, and prints "CODE VERIFIER".
#
#   authorize.sh PORT CLIENT_ID
set -euo pipefail
base=http://127.0.0.1:${1:?usage: authorize.sh PORT CLIENT_ID}
client=${2:?usage: authorize.sh PORT CLIENT_ID}
. "$(dirname "$0")/browser.sh"
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
sign_in
location=$(browse -G -w '%{redirect_url}' "$base/o/authorize/" -d response_type=code \
    -d "client_id=$client" -d redirect_uri=http://127.0.0.1/cb --data-urlencode "scope=read write" \
    -d "code_challenge=$challenge" -d code_challenge_method=S256 -d state=xyz)
code=$(sed -n 's/.*[?&]code=\([^&]*\).*/\1/p' <<< "$location")
[ -n "$code" ]
echo "$code $verifier"
