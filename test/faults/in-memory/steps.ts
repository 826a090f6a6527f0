/** What may happen to a network, for property-based tests. */

import fc from "fast-check";
import type { ModelAttachment, ModelOwner, ModelSet } from "./model.ts";

/** A network's range sets, small enough to be exhausted. */
export interface ModelNetwork {
  readonly name: string;
  readonly sets: readonly ModelSet[];
}

const plain = { prefix: "10.0.0.", first: 1, last: 6, gateway: "10.0.0.1", length: 29 };
const beyond = { prefix: "10.0.1.", first: 1, last: 4, gateway: "10.0.1.1", length: 29 };
const wholeV6 = {
  prefix: "2001:db8::",
  first: 1,
  last: 7,
  gateway: "2001:db8::1",
  length: 125,
};

export const networks: readonly ModelNetwork[] = [
  { name: "plain", sets: [[plain]] },
  { name: "gateway-within", sets: [[{ ...plain, gateway: "10.0.0.4" }]] },
  { name: "gateway-elsewhere", sets: [[{ ...plain, last: 4, gateway: "192.168.0.1" }]] },
  { name: "two-ranges", sets: [[{ ...plain, last: 3 }, beyond]] },
  {
    name: "three-ranges",
    sets: [
      [
        { ...plain, last: 2 },
        { ...beyond, last: 2 },
        { ...beyond, prefix: "10.0.2.", last: 2, gateway: "10.0.2.1" },
      ],
    ],
  },
  { name: "gateway-of-sibling", sets: [[{ ...plain, last: 3, gateway: "10.0.1.2" }, beyond]] },
  { name: "dual-stack", sets: [[plain], [wholeV6]] },
  { name: "three-sets", sets: [[plain], [wholeV6], [beyond]] },
];

/** What somebody may put where a reservation belongs, and whom the Go plugin takes for its owner. */
const contents: readonly { readonly content: string; readonly owner: ModelOwner }[] = [
  { content: "", owner: undefined },
  { content: "\0\0 \r\n", owner: undefined },
  { content: "some garbage", owner: undefined },
  { content: "a\neth0", owner: undefined },
  { content: "a\r\neth0\r\nmore", owner: undefined },
  { content: "a", owner: { containerId: "a" } },
  { content: "b\r\n", owner: { containerId: "b" } },
  { content: " a\r\neth1\n", owner: { containerId: "a", interfaceName: "eth1" } },
  { content: "stranger\r\neth0", owner: { containerId: "stranger", interfaceName: "eth0" } },
];

export type Step =
  | {
      readonly verb: "ADD";
      readonly attachment: ModelAttachment;
      readonly requested: readonly string[];
    }
  | { readonly verb: "DEL" | "CHECK"; readonly attachment: ModelAttachment }
  | { readonly verb: "GC"; readonly valid: readonly ModelAttachment[] }
  | {
      readonly verb: "put";
      readonly address: string;
      readonly file: { readonly content: string; readonly owner: ModelOwner };
    }
  | { readonly verb: "remove"; readonly address: string }
  | { readonly verb: "set cursor"; readonly text: string }
  | { readonly verb: "wait"; readonly milliseconds: number };

/** Some share a container, and some a beginning of its id. */
export const attachments: readonly ModelAttachment[] = ["a", "ab", "b", "c", "d", "e"].flatMap(
  (containerId) => [
    { containerId, interfaceName: "eth0" },
    { containerId, interfaceName: "eth1" },
  ],
);

const attachment = fc.constantFrom(...attachments);

/** In the ranges, at their ends, and outside. */
const address = fc
  .tuple(
    fc.constantFrom("10.0.0.", "10.0.1.", "10.0.2.", "2001:db8::"),
    fc.integer({ min: 1, max: 8 }),
  )
  .map(([prefix, digit]) => `${prefix}${digit}`);

const requested = fc.oneof(
  { weight: 4, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(address, { minLength: 1, maxLength: 3 }) },
);

const addStep = fc.record({ verb: fc.constant("ADD" as const), attachment, requested });
const delStep = fc.record({ verb: fc.constantFrom("DEL" as const, "CHECK" as const), attachment });
const gcStep = fc.record({
  verb: fc.constant("GC" as const),
  valid: fc.subarray([...attachments]),
});

/** The steps of runtimes alone. */
export const call: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: addStep },
  { weight: 4, arbitrary: delStep },
  { weight: 1, arbitrary: gcStep },
);

/** Those, and what time, administrators and accidents do. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 15, arbitrary: call },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant("put" as const),
      address,
      file: fc.constantFrom(...contents),
    }),
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("remove" as const), address }) },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant("set cursor" as const),
      text: fc.oneof(
        address,
        address.map((text) => `${text}\n`),
        fc.constantFrom("", "garbage"),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant("wait" as const),
      milliseconds: fc.constantFrom(9_000, 11_000),
    }),
  },
);
