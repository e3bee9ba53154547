#!/usr/bin/env bash
# The device authorization grant (RFC 8628): what the device asks for, and what the user then does in a browser.
#
#   device.sh PORT begin CLIENT_ID               prints "DEVICE_CODE USER_CODE"
#   device.sh PORT accept CLIENT_ID USER_CODE
set -euo pipefail
base=http://127.0.0.1:${1:?usage: device.sh PORT begin|accept CLIENT_ID [USER_CODE]}
client=${3:?usage: device.sh PORT begin|accept CLIENT_ID [USER_CODE]}
. "$(dirname "$0")/browser.sh"
case $2 in
begin)
    reply=$(curl -sf "$base/o/device-authorization/" -d "client_id=$client")
    member() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" <<< "$reply"; }
    echo "$(member device_code) $(member user_code)"
    ;;
accept)
    sign_in
    submit "$base/o/device/" -d "user_code=$4"
    submit "$base/o/device-confirm/$client/$4" -d action=accept
    ;;
*) exit 64 ;;
esac
