#!/usr/bin/env bash
# Opens the URL of an authorization request as a browser does, and prints the redirect: every user agrees here.
#
#   authorize.sh PORT URL
set -euo pipefail
location=$(curl -sf -o /dev/null -w '%{redirect_url}' "${2:?usage: authorize.sh PORT URL}")
[ -n "$location" ]
echo "$location"
