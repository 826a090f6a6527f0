/** What every answer ought to be, found by a look at every file: the journal may make it fast, never different. */

import type { Answer, CallOptions, Network } from "../../harness/network.ts";

/** The range sets of the networks here: five addresses, and five more. */
export const sets = [
  { subnet: "10.0.0.0/29" },
  { subnet: "2001:db8::/125", rangeEnd: "2001:db8::6" },
] as const;

const usable = ["10.0.0.", "2001:db8::"].map((prefix) =>
  [2, 3, 4, 5, 6].map((last) => `${prefix}${last}`),
);

/** The two executables, by their locks. */
export const executables = [
  { name: "native", options: {} },
  { name: "portable", options: { lockKind: "portable" } },
] as const;

/** What a full scan finds for an attachment. */
interface Held {
  readonly exact: readonly string[];
  readonly legacy: readonly string[];
}

function scan(network: Network, attachment: string): Held {
  const [containerId = "", interfaceName = ""] = attachment.split(" ");
  const named = (content: string): readonly string[] =>
    Object.entries(network.reservations())
      .filter(([, text]) => text.trim() === content)
      .map(([address]) => address);
  return { exact: named(`${containerId}\r\n${interfaceName}`), legacy: named(containerId) };
}

/**
 * Asks everything about each attachment, as `container interface`, each time from the same state, which stays as it is.
 *
 * @returns every answer that differs from what a full scan says, in words
 */
export function brokenAnswers(
  network: Network,
  attachments: readonly string[],
  options: CallOptions,
): readonly string[] {
  const broken: string[] = [];
  for (const attachment of attachments) {
    const [containerId = "", interfaceName] = attachment.split(" ");
    const tried = (verb: string, decide: (answer: Answer) => string | undefined): void => {
      const found = network.machine.try(() =>
        decide(network.call(verb, containerId, { ...options, interfaceName })),
      );
      if (found !== undefined) broken.push(`${verb} of ${attachment} ${found}`);
    };
    const held = scan(network, attachment);
    const all = [...held.exact, ...held.legacy].sort();
    tried("CHECK", ({ exitCode }) => {
      const expected = all.length > 0 ? 0 : 1;
      return exitCode === expected ? undefined : `exits with ${exitCode}, but it holds [${all}]`;
    });
    tried("DEL", (answer) => {
      const left = scan(network, attachment);
      const legacy = held.exact.length > 0 ? held.legacy : [];
      return answer.exitCode === 0 && `${left.exact}` === "" && `${left.legacy}` === `${legacy}`
        ? undefined
        : `leaves ${left.exact} ${left.legacy} ${answer.stdout}`;
    });
    tried("ADD", (answer) => brokenAdd(answer, all));
  }
  const status = network.machine.try(() => network.strictStatus(options));
  const files = network.reservations();
  const isFull = usable.some((set) => set.every((address) => (files[address] ?? "") !== ""));
  const expected = isFull ? 1 : 0;
  if (status.exitCode !== expected) {
    broken.push(`STATUS exits with ${status.exitCode}, but there are ${Object.keys(files)}`);
  }
  return broken;
}

/** An ADD is refused where the attachment has an address of the set, and only there. */
function brokenAdd(
  { exitCode, stdout, error }: Answer,
  held: readonly string[],
): string | undefined {
  const isDuplicate = usable.flat().some((address) => held.includes(address));
  const saysDuplicate = error?.msg.includes("duplicate allocation") === true;
  if (exitCode === 0)
    return isDuplicate ? `gives another address, but it holds [${held}]` : undefined;
  const isFull = error?.msg.includes("no IP addresses available") === true;
  return (saysDuplicate && isDuplicate) || (isFull && !saysDuplicate)
    ? undefined
    : `says ${stdout}`;
}
