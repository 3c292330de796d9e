#!/bin/sh
# Step 2: what runs need beside Node.js, the user of the service and its folder; takes away what nobody needs there.
set -eu
apt-get update -q
apt-get install -y -q --no-install-recommends bubblewrap ca-certificates git openssh-client
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
# No package manager of JavaScript: the service has all of its packages.
rm -rf /usr/local/lib/node_modules /usr/lib/node_modules /opt/yarn* \
  /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /usr/bin/npm /usr/bin/npx
printf 'millwright:x:10001:10001::/data:/usr/sbin/nologin\n' >> /etc/passwd
printf 'millwright:x:10001:\n' >> /etc/group
mkdir -p /data
chown 10001:10001 /data
chmod 700 /data
# Nothing becomes another user.
find / -xdev -type f -perm /6000 -exec chmod a-s {} +
