/* The host functions by which `host-local agent` waits: for its schedule, its programs and its connections. */

#ifndef AGENT_HOST_H
#define AGENT_HOST_H

#include <stdbool.h>

#include <quickjs.h>

/* Adds `agentHost` to the global object. */
bool add_agent_host(JSContext *ctx);

#endif
