/* The host functions of the operator's tool. */

#ifndef OPERATOR_HOST_H
#define OPERATOR_HOST_H

#include <stdbool.h>

#include <quickjs.h>

/* Adds `operatorHost` to the global object. */
bool add_operator_host(JSContext *ctx, int count, char **arguments);

#endif
