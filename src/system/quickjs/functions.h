/* The host functions. host.c says what the program calls them, and quickjs/host.ts what they take and return. */

#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "call.h"

/* files.c */
host_function host_read_input, host_input_bytes, host_write_output, host_write_error, host_read_file,
    host_create_file, host_overwrite_file, host_link, host_rename, host_sync, host_unlink,
    host_read_link, host_set_modified, host_status, host_link_status, host_permissions, host_open_file,
    host_file_system_type, host_is_full, host_require_access, host_require_openable;

/* directories.c */
host_function host_make_directory, host_list, host_list_addresses, host_read_files;

/* line-files.c */
host_function host_find_lines, host_lines_with, host_extend_file, host_append_line;

/* lock.c */
host_function host_lock, host_unlock;

/* operator.c */
host_function host_is_terminal, host_terminal_size, host_read_line, host_read_pipe, host_copy_file,
    host_network_links, host_has_text, host_read_file_in;

/* namespaces.c */
host_function host_namespace_handle, host_opens_namespace;

/* programs.c */
host_function host_start, host_result;

/* netlink.c */
host_function host_linked_addresses, host_namespace_id;

/* agent.c */
host_function host_end_on_signals, host_listen, host_wait, host_answer;

#endif
