#!/usr/bin/env bash
# Opens the URL of an authorization request as a browser does, and prints the redirect: the one user agrees at once. Beside a
# request_uri, this server wants the response_type as well, as OpenID Connect Core, section 6, has it and RFC 9126 has not.
#
#   authorize.sh PORT URL
set -euo pipefail
location=$(curl -sf -o /dev/null -w '%{redirect_url}' "${2:?usage: authorize.sh PORT URL}&response_type=code")
[ -n "$location" ]
echo "$location"
