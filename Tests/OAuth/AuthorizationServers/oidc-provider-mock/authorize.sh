#!/usr/bin/env bash
# Signs a user in as a browser does that opens the URL of an authorization request, and prints the redirect; the server takes a
# verifier and does not look at it.
#
#   authorize.sh PORT URL
set -euo pipefail
location=$(curl -sf -o /dev/null -w '%{redirect_url}' -d sub=alice "${2:?usage: authorize.sh PORT URL}")
[ -n "$location" ]
echo "$location"
