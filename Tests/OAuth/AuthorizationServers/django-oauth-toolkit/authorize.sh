#!/usr/bin/env bash
# Signs a user in as a browser does that opens the URL of an authorization request, and prints the redirect.
#
#   authorize.sh PORT URL
set -euo pipefail
base=http://127.0.0.1:${1:?usage: authorize.sh PORT URL}
. "$(dirname "$0")/browser.sh"
sign_in
location=$(browse -w '%{redirect_url}' "${2:?usage: authorize.sh PORT URL}")
[ -n "$location" ]
echo "$location"
