#!/bin/sh
# Builds the image $1 with buildah from the package that `npm run package` made. Further arguments are buildah's:
# `--build-arg BASE=…` chooses another base; `base.sh` makes one where no registry is reached.
set -eu
here=$(dirname "$(readlink -f "$0")")
tag=$1
shift
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
set -- "$@" --file "$here/Containerfile" --tag "$tag" --format oci "$context"
cp "$here/install-package.sh" "$here/install-programs.sh" "$context"
cp "$(ls -t "$here"/../../../dist/millwright-server-*.tgz | head -n 1)" "$context/millwright-server.tgz"
buildah build --isolation "${BUILDAH_ISOLATION:-chroot}" "$@"
