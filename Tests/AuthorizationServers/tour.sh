#!/usr/bin/env bash
# Signs a user in at a server that runs, takes the tour of it, and checks what the tour says and hands back.
#
#   TOKEN_TOUR=.build/debug/token-tour tour.sh django-oauth-toolkit|oidc-provider-mock PORT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
name=${1:?usage: tour.sh SERVER PORT}
base=http://127.0.0.1:${2:?usage: tour.sh SERVER PORT}
case $name in
django-oauth-toolkit)
    token=$base/o/token/ resource=$base/resource client=public method=none rotation="rotation seen: 16 exchanges"
    proof=(-d "client_id=$client")
    ;;
oidc-provider-mock)
    token=$base/oauth2/token resource=$base/userinfo client=app method=basic rotation="no rotation seen: 16 exchanges"
    export CLIENT_SECRET=any
    proof=(-u "$client:$CLIENT_SECRET")
    ;;
*) exit 64 ;;
esac

fail() {
    printf 'The tour of %s %s.\n' "$name" "$1" >&2
    exit 1
}

read -r code verifier < <("$here/$name/authorize.sh" "$2" "$client") || fail 'cannot begin: nobody could sign in'
reply=$(curl -sSf "$token" "${proof[@]}" -d grant_type=authorization_code -d "code=$code" \
    -d redirect_uri=http://127.0.0.1/cb -d "code_verifier=$verifier")
refresh_token=$(sed -n 's/.*"refresh_token": *"\([^"]*\)".*/\1/p' <<< "$reply")

tour() {
    "${TOKEN_TOUR:?the path of token-tour}" --server "$token" --resource "$resource" --client-id "$client" \
        --client-auth "$method" "$@"
}

report=$(tour --refresh-token="$refresh_token" --print-refresh-token)
last=$(sed -n '$s/^REFRESH_TOKEN=//p' <<< "$report")
sed '$d' <<< "$report"
grep -qF "$rotation" <<< "$report" || fail "does not say \"$rotation\""
[ -n "$last" ] || fail 'handed no refresh token back'
# What it handed back is good for another tour, which prints no secret unless it is asked to.
report=$(tour --refresh-token="$last" --rounds 1 --set-up both 2>&1) || fail 'fails with the token that it handed back'
! grep -qF -e "$last" -e REFRESH_TOKEN= <<< "$report" || fail 'prints a refresh token that it was not asked for'
