#!/bin/sh
# A base for where no registry is reached: Debian's smallest system with this machine's Node.js, as a tar file $1.
# $2, if given: certificates of the authorities that this machine trusts.
set -eu
node=$(readlink -f "$(command -v node)")
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
headers=$(dirname "$(dirname "$node")")/include/node
certificates=${2:-/etc/ssl/certs/ca-certificates.crt}
mmdebstrap --quiet --variant=minbase --include=ca-certificates,libstdc++6 \
  --customize-hook="mkdir -p \"\$1/usr/local/bin\" \"\$1/usr/local/lib/node_modules\"" \
  --customize-hook="cp '$node' \"\$1/usr/local/bin/node\"" \
  --customize-hook="cp -r '$npm' \"\$1/usr/local/lib/node_modules/npm\"" \
  --customize-hook="ln -s ../lib/node_modules/npm/bin/npm-cli.js \"\$1/usr/local/bin/npm\"" \
  --customize-hook="ln -s ../lib/node_modules/npm/bin/npx-cli.js \"\$1/usr/local/bin/npx\"" \
  --customize-hook="mkdir -p \"\$1/usr/local/include\"" \
  --customize-hook="cp -r '$headers' \"\$1/usr/local/include/node\"" \
  --customize-hook="cp '$certificates' \"\$1/etc/ssl/certs/ca-certificates.crt\"" \
  bookworm "$1"
