#!/bin/sh
# A producer with curl: enqueue.sh KIND PAYLOAD [KEY]. HOLDFAST_URL is where 'holdfast serve' is,
# HOLDFAST_TOKEN a token with the scope enqueue. With a KEY it can be repeated until it succeeds,
# and enqueues once.
set -eu

curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused \
  --header "Authorization: Bearer $HOLDFAST_TOKEN" \
  --header "Content-Type: application/json" \
  --header "Idempotency-Key: ${3:-}" \
  --data "{\"kind\":\"$1\",\"payload\":$2}" \
  "${HOLDFAST_URL%/}/v1/tasks"
echo
