# What a user's browser does, with curl; the scripts that use it set $base first.
jar=$(mktemp)
trap 'rm -f "$jar"' EXIT

browse() { curl -sf -c "$jar" -b "$jar" -o /dev/null "$@"; }

# Posts a form of a page, with the page's own token against forgery.
submit() {
    local page=$1
    shift
    browse "$page"
    browse "$page" -H "Referer: $page" "$@" \
        --data-urlencode "csrfmiddlewaretoken=$(awk '$6 == "csrftoken" { print $7 }' "$jar")"
}

sign_in() { submit "$base/admin/login/?next=/healthz" -d username=alice -d password=wonderland; }
