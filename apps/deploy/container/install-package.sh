#!/bin/sh
# Step 1: installs the npm package $1 into $2, with the database driver for this machine and nothing that built it.
set -eu
tarball=$1
folder=$2
if ! command -v c++ >/dev/null; then
  apt-get update -q
  apt-get install -y -q --no-install-recommends ca-certificates g++ make python3
fi
# Headers that came with Node.js, so that none are fetched.
if [ -e /usr/local/include/node/node_api.h ]; then export npm_config_nodedir=/usr/local; fi
mkdir -p "$folder"
cd "$folder"
printf '{"private":true,"allowScripts":{"better-sqlite3":true}}\n' > package.json
npm install --omit=dev --no-audit --no-fund --no-update-notifier "$tarball"

# What only compiles the driver: SQLite's sources, and what the compiler left.
driver=node_modules/better-sqlite3
cp "$driver/build/Release/better_sqlite3.node" .
rm -rf "$driver/build" "$driver/deps" "$driver/src"
mkdir -p "$driver/build/Release"
mv better_sqlite3.node "$driver/build/Release/"
rm -f package-lock.json node_modules/.package-lock.json
