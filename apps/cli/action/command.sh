#!/usr/bin/env bash
# Runs `millwright`: the one file that MILLWRIGHT_FILE names, or that lies beside this script, once its bytes have the digest in
# MILLWRIGHT_SHA256; without a file, the checkout that this script lies in.
set -euo pipefail
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"

fail() {
  if [ "${GITHUB_ACTIONS:-}" = true ]; then printf '::error title=Millwright::%s\n' "$2"; fi
  printf 'millwright: %s\n' "$2" >&2
  exit "$1"
}

file="${MILLWRIGHT_FILE:-}"
if [ -z "$file" ] && [ -e "$here/millwright.mjs" ]; then file="$here/millwright.mjs"; fi
expected="${MILLWRIGHT_SHA256:-}"
if [ -z "$file" ]; then
  [ -z "$expected" ] || fail 64 'a digest is given, but no file: name it (file, MILLWRIGHT_FILE), or leave the digest out'
  [ -e "$here/from-checkout.sh" ] || fail 3 'the file of the command (millwright.mjs) is missing beside its scripts'
  exec bash "$here/from-checkout.sh" "$@"
fi
[[ "$expected" =~ ^[0-9a-f]{64}$ ]] || fail 64 'the digest of the file is needed (sha256, MILLWRIGHT_SHA256): 64 digits of 0-9 and a-f'
command -v node >/dev/null || fail 3 'Node.js 20.19 or later is needed; set it up before this step'

# What is checked is what runs: a copy that nothing else writes to.
copy="$(mktemp -d)"
trap 'rm -rf -- "$copy"' EXIT
cp -- "$file" "$copy/millwright.mjs" || fail 3 'the file of the command cannot be read; see the line above'
digest='process.stdout.write(require("node:crypto").createHash("sha256").update(require("node:fs").readFileSync(process.argv[1])).digest("hex"))'
found="$(node -e "$digest" "$copy/millwright.mjs")" || fail 3 'the digest of the file cannot be computed; see the lines above'
[ "$found" = "$expected" ] || fail 3 "the file of the command is not the one that was pinned, and is not run: its digest is $found, not $expected"
node "$copy/millwright.mjs" "$@"
