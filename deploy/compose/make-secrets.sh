#!/bin/sh
# Makes the secrets of compose.yaml, once: a second run changes nothing.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
for name in postgres redis grafana; do
  [ -e "secrets/$name" ] || openssl rand -hex 24 > "secrets/$name"
done
[ -e secrets/store ] || printf 'postgres://countersign:%s@postgres/countersign\n' "$(cat secrets/postgres)" > secrets/store
[ -e secrets/redis-address ] || printf 'redis://:%s@redis:6379\n' "$(cat secrets/redis)" > secrets/redis-address
# Compose mounts them as they are, and the containers do not run as root.
chmod 755 secrets
chmod 644 secrets/*
echo "Next: docker compose -f deploy/compose/compose.yaml up --build"
