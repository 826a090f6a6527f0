#!/bin/busybox sh
# shellcheck shell=dash
# Calls the plugin: call.sh VERB CONTAINER [PATH], for the network of $data with the range $range. Prints the address that an
# ADD gives, `full` where there is none, and whatever else is not success. The container is a pod's sandbox, unless $pod says
# whose it is.
# shellcheck disable=SC2154 # the tests set them
answer=$(
  CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=${3:-/run/netns/$2} CNI_IFNAME=eth0 CNI_PATH=/bin \
    CNI_ARGS="IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${pod:-$2}" host-local 2>/tmp/stderr.$$ <<END
{"cniVersion": "1.1.0", "name": "net", ${valid:+"\"cni.dev/valid-attachments\": $valid,"}
 "ipam": {"type": "host-local", "dataDir": "$data", "ranges": [[{"subnet": "198.51.100.0/24", ${range:-
   \"rangeStart\": \"198.51.100.2\", \"rangeEnd\": \"198.51.100.3\"}}]]}}
END
)
status=$?
address=$(echo "$answer" | sed -n 's/.*"address": *"\([0-9.]*\)\/.*/\1/p')
case $status,$answer in
0,*"$address"*) [ -z "$address" ] || echo "$address" ;;
*"no IP addresses available"*) echo full ;;
*) echo "$answer" | tr '\n' ' ' ;;
esac
[ ! -s "/tmp/stderr.$$" ] || sed 's/^/    /' "/tmp/stderr.$$" >>/tmp/stderr
rm "/tmp/stderr.$$"
