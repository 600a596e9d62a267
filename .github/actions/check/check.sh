#!/usr/bin/env bash
# Runs repoglot check: findings become annotations, the counts of the languages a
# table in the summary of the job. The exit status is that of repoglot check.
set -euo pipefail
flags=()
if [ "$QUALITY" = true ]; then
	flags+=(--quality)
	[ -z "$CHECK_FLAGS" ] || flags+=(--check-flags "$CHECK_FLAGS")
fi
[ "$STRICT" != true ] || flags+=(--strict)
read -ra paths <<<"$PATHS"
log=$(mktemp)
status=0
repoglot check --format github ${flags[@]+"${flags[@]}"} -- "${paths[@]}" 2>"$log" || status=$?
cat "$log" >&2
{
	echo "### Translations"
	echo
	sed -n 's/^repoglot: //p' "$log"
	echo
	echo "| language | translated | needs editing | untranslated | |"
	echo "|---|--:|--:|--:|--:|"
	repoglot check --list-languages --format json -- "${paths[@]}" |
		jq -r '.[] | "| \(.language) | \(.translated) | \(.fuzzy) | \(.untranslated) | \(.percent) % |"' || true
} >>"$GITHUB_STEP_SUMMARY"
rm -f "$log"
exit "$status"
