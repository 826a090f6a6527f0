/** Lines of our own files, as tests write them. */

import { endOf } from "../../src/store/reservations/owner.ts";

/** A line such as `c1 eth0 192.0.2.2`, as the journal has it: with the end of the container's id. */
export function line(text: string): string {
  const [container = "", ...rest] = text.split(" ");
  return [endOf(container), ...rest].join(" ");
}
