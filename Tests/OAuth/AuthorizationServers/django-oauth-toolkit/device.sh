#!/usr/bin/env bash
# What a user does in a browser with the code that a device shows (RFC 8628).
#
#   device.sh PORT accept CLIENT_ID USER_CODE
#   device.sh PORT deny CLIENT_ID USER_CODE
set -euo pipefail
usage='usage: device.sh PORT accept|deny CLIENT_ID USER_CODE'
base=http://127.0.0.1:${1:?$usage}
action=${2:?$usage} client=${3:?$usage} code=${4:?$usage}
. "$(dirname "$0")/browser.sh"
sign_in
submit "$base/o/device/" -d "user_code=$code"
submit "$base/o/device-confirm/$client/$code" -d "action=$action"
