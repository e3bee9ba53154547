#!/usr/bin/env bash
# Signs a user in as a browser does, with PKCE, and prints "CODE VERIFIER".
#
#   authorize.sh PORT CLIENT_ID
set -euo pipefail
base=http://127.0.0.1:${1:?usage: authorize.sh PORT CLIENT_ID}
client=${2:?usage: authorize.sh PORT CLIENT_ID}
jar=$(mktemp)
trap 'rm -f "$jar"' EXIT
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
curl -sf -c "$jar" -b "$jar" -o /dev/null "$base/admin/login/"
csrf=$(awk '$6 == "csrftoken" { print $7 }' "$jar")
curl -sf -c "$jar" -b "$jar" -o /dev/null "$base/admin/login/?next=/healthz" -H "Referer: $base/admin/login/" \
    --data-urlencode "csrfmiddlewaretoken=$csrf" -d username=alice -d password=wonderland
location=$(curl -sf -b "$jar" -G -o /dev/null -w '%{redirect_url}' "$base/o/authorize/" -d response_type=code \
    -d "client_id=$client" -d redirect_uri=http://127.0.0.1/cb --data-urlencode "scope=read write" \
    -d "code_challenge=$challenge" -d code_challenge_method=S256 -d state=xyz)
code=$(sed -n 's/.*[?&]code=\([^&]*\).*/\1/p' <<< "$location")
[ -n "$code" ]
echo "$code $verifier"
