#!/usr/bin/env bash
# What the GitHub Action does: validates, plans where it can, and tells outputs. Inputs come as variables, never as shell text.
set -euo pipefail
# Outside of a job, or in a shell where somebody tries it, nobody reads these.
export GITHUB_STEP_SUMMARY="${GITHUB_STEP_SUMMARY:-/dev/null}" GITHUB_OUTPUT="${GITHUB_OUTPUT:-/dev/null}"
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
millwright() { bash "$here/command.sh" "$@"; }

directory="${INPUT_DIRECTORY:-.}"
server="${INPUT_SERVER:-}"
since="${INPUT_CHANGED_SINCE:-}"
code=0
valid=false
changes=

# Tells the outputs and ends with the given status.
finish() {
  printf 'valid=%s\nchanges=%s\nexit-code=%s\n' "$valid" "$changes" "$code" >> "$GITHUB_OUTPUT"
  exit "$1"
}

options=(--format=github)
case "${INPUT_STRICT:-false}" in
  true) options+=(--strict) ;;
  false) ;;
  *) echo '::error title=Millwright::The input strict must be true or false.'; code=64; finish 64 ;;
esac
if [ -n "$since" ]; then options+=("--changed-since=$since"); fi

# The summary of a plan says what this one says: it is shown only where none follows.
summary="$(mktemp)"
plan_summary="$(mktemp)"
trap 'rm -f -- "$summary" "$plan_summary"' EXIT
checked="$(GITHUB_STEP_SUMMARY="$summary" millwright validate "${options[@]}" -- "$directory")" || code=$?
if [ -n "$checked" ]; then printf '%s\n' "$checked"; fi
tell_check() { cat -- "$summary" >> "$GITHUB_STEP_SUMMARY"; }
if [ "$code" != 0 ]; then tell_check; finish "$code"; fi
valid=true

options=(--format=github)
offline=false
if [ -n "$server" ] && [ -n "${ACTIONS_ID_TOKEN_REQUEST_URL:-}${MILLWRIGHT_ID_TOKEN:-}${MILLWRIGHT_API_KEY:-}" ]; then
  options+=("--server=$server")
  if [ -n "${INPUT_FACTORY:-}" ]; then options+=("--factory=$INPUT_FACTORY"); fi
else
  if [ -n "$server" ]; then
    echo '::warning title=Millwright::The server was not asked, because this job gets no token: give it the permission id-token: write. Pull requests from forks are given none.'
  fi
  if [ -z "$since" ]; then tell_check; finish 0; fi
  offline=true
  options+=("--changed-since=$since")
fi

planned="$(GITHUB_STEP_SUMMARY="$plan_summary" millwright plan "${options[@]}" -- "$directory")" || code=$?
if [ -s "$plan_summary" ]; then
  cat -- "$plan_summary" >> "$GITHUB_STEP_SUMMARY"
else
  tell_check
  printf '\n### Plan\n\nNo plan could be made; see the log of this step.\n' >> "$GITHUB_STEP_SUMMARY"
fi
# Warnings that were shown are not shown again.
if [ -n "$planned" ]; then grep -vxF -f <(printf '%s\n' "$checked") <<< "$planned" || true; fi
case "$code" in
  0) changes=false; finish 0 ;;
  # Changes are what a pull request is for, and deletions that the guard would hold are approved after the merge.
  2) changes=true; finish 0 ;;
  4) changes=true; echo '::warning title=Millwright::The guard would hold deletions of this change until somebody approves them.'; finish 0 ;;
  1) if [ "$offline" = true ]; then code=0; finish 0; fi; valid=false; finish 1 ;; # offline: problems that were there before this change
  *) echo '::error title=Millwright::No plan could be made; see the log of this step.'; finish "$code" ;;
esac
