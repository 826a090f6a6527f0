/** The files of the node that a configuration names. */

/** A larger one is refused, in bytes. */
export const LARGEST_FILE = 16 * 1024 * 1024;
