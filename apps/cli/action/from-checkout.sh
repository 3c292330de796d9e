#!/usr/bin/env bash
# Runs `millwright` from the checkout that this file lies in. The first call installs the locked packages; no script of a package is run.
set -euo pipefail
root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd)"

fail() { printf 'millwright: %s\n' "$1" >&2; exit 3; }

command -v node >/dev/null || fail 'Node.js 20.19 or later is needed; set it up before this step'
supported='const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)'
node -e "$supported" || fail "Node.js 20.19 or later is needed; this is $(node --version)"

# What was built runs as it is: a checkout that somebody works in, or one that an earlier call made.
if [ -e "$root/dist/.millwright-built" ]; then
  exec node --disable-warning=ExperimentalWarning "$root/apps/cli/millwright.mjs" "$@"
fi

install() {
  (cd -- "$root" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error "$@") >&2 || fail 'the packages could not be installed; see the lines above'
}

# A Node.js that reads TypeScript needs neither the compiler nor a build.
if [ "$(node -p 'process.features.typescript ?? false')" != false ]; then
  [ -e "$root/node_modules/.package-lock.json" ] || install --omit=dev
  exec node --disable-warning=ExperimentalWarning --conditions=source "$root/apps/cli/action/from-source.mjs" "$@"
fi

[ -e "$root/node_modules/typescript/bin/tsc" ] || install --include=dev
# Whoever made the checkout has checked the types.
(cd -- "$root" && node node_modules/typescript/bin/tsc -p . --noCheck) >&2 || fail 'the build failed; see the lines above'
# Last, so that an interrupted build is no build.
: > "$root/dist/.millwright-built"
exec node --disable-warning=ExperimentalWarning "$root/apps/cli/millwright.mjs" "$@"
