/** Which of the free addresses an attachment gets first, and which last. */

import { type Address, parseAddress } from "../ipam/address.ts";
import type { Reuse } from "../ipam/config.ts";
import type { Store } from "./locked-network.ts";
import { coolingAddresses } from "./reuse/cooldown.ts";
import { rememberedAddresses, type StickyOwner } from "./reuse/sticky.ts";

/** The addresses in question; none of them is certain to be free. */
export interface Preferences {
  /** Those that the pod had, tried first. */
  readonly own: readonly Address[];
  /** Those that were released lately or that another pod had, tried last: how long ago, in milliseconds. */
  readonly avoided: ReadonlyMap<string, number>;
}

/** Where the configuration asks for none. */
export const NO_PREFERENCES: Preferences = { own: [], avoided: new Map() };

/**
 * The preferences for an attachment.
 *
 * @param owner the pod whose addresses are sticky, if the call names one
 */
export function preferencesFor(
  store: Store,
  { delaySeconds, stickySeconds }: Reuse,
  owner: StickyOwner | undefined,
): Preferences {
  if (delaySeconds === 0 && stickySeconds === undefined) return NO_PREFERENCES;
  const { system, location } = store;
  const avoided = new Map<string, number>();
  const own: Address[] = [];
  const remembered =
    stickySeconds === undefined
      ? []
      : rememberedAddresses(system, location, stickySeconds, store.released);
  for (const one of remembered) {
    const address = parseAddress(one.address);
    if (address !== undefined && one.owner === owner) own.push(address);
    else avoided.set(one.address, Math.max(0, system.now() - one.time));
  }
  if (delaySeconds > 0) {
    for (const [address, age] of coolingAddresses(system, location, delaySeconds)) {
      avoided.set(address, age);
    }
    for (const address of store.released) avoided.set(address, 0);
  }
  return { own, avoided };
}

/** The avoided addresses, the longest released first. */
export function byAge({ avoided }: Preferences): readonly Address[] {
  return [...avoided]
    .toSorted(([, one], [, other]) => other - one)
    .flatMap(([address]) => parseAddress(address) ?? []);
}
