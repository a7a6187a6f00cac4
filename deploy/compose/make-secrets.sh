#!/bin/sh
# Makes the secrets of compose.yaml, once: a second run changes nothing.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
for name in postgres grafana; do
  [ -e "secrets/$name" ] || openssl rand -hex 24 > "secrets/$name"
done
[ -e secrets/store ] || printf 'postgres://countersign:%s@postgres/countersign\n' "$(cat secrets/postgres)" > secrets/store
# Compose mounts them as they are, and the containers do not run as root.
chmod 755 secrets
chmod 644 secrets/*
echo "Next: docker compose -f deploy/compose/compose.yaml up --build"
