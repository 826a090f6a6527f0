/*
 * A call of a host function by the program: what it is given, and what it returns or throws. That there is no memory for a
 * value is no exception: it ends the process.
 */

#ifndef CALL_H
#define CALL_H

#include <stdbool.h>
#include <stddef.h>

#include <quickjs.h>

enum { MOST_TEXTS = 3 };

/* Texts are UTF-8, end with NUL, and stay until the host function has returned. */
struct call {
  JSContext *ctx;
  JSValueConst *args;
  /* What it does, and to which file, for its errors. */
  const char *operation, *path;
  size_t path_length;
  const char *texts[MOST_TEXTS];
  size_t text_count;
};

typedef JSValue host_function(struct call *call);

/* A host function as the program sees it. */
struct function {
  const char *name;
  int length;
  host_function *call;
  /* NULL where it throws no error of a system call. */
  const char *operation;
  /* Which argument is the path; unless it is always this file. */
  int path;
  const char *file;
};

/* Calls a function with the program's arguments. */
JSValue call_function(JSContext *ctx, const struct function *function, JSValueConst *args);

/* An argument that is a text; a host function takes up to `MOST_TEXTS`, its path included. */
const char *text_at(struct call *call, int at, size_t *length);

/* An argument as a path; NULL, with an exception thrown, where it contains NUL, at which the kernel would truncate it. */
const char *path_at(struct call *call, int at);

/* An argument that is a number. */
double number_at(const struct call *call, int at);

/* A member of an argument, which is a number, or a boolean: 1 for true. */
double member_at(const struct call *call, int at, const char *name);

/* Throws the program's `SystemError` for an errno. */
JSValue throw_errno(const struct call *call, const char *operation, int error);

/* What `throw_errno` would throw. */
JSValue system_error(JSContext *ctx, const char *operation, JSValue path, int error);

/* The result of a system call without a return value: undefined or, where it is negative, the error of errno. */
JSValue done(const struct call *call, int result);

/* A member of an object. */
struct member {
  const char *name;
  JSValue value;
};

/* An object of members, which are taken over; an exception where one of them is. */
JSValue object_of(JSContext *ctx, const struct member *members, size_t count);

/* A list as it grows. */
struct list {
  JSValue array;
  uint32_t length;
};

/* Adds an element, which is taken over, to a list. */
void append(JSContext *ctx, struct list *list, JSValue element);

#endif
