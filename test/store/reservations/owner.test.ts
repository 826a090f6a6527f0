import { test } from "tap";
import {
  contentOf,
  describeOwner,
  isSameOwner,
  type Owner,
  parseOwner,
} from "../../../src/store/reservations/owner.ts";
import { attachment } from "../fixtures.ts";

const nobody = { kind: "unowned" };
const c1 = { kind: "attachment", containerId: "c1", interfaceName: "eth0" };
const legacy = { kind: "legacy", containerId: "c1" };

test("the content of a file names an attachment, a container, or nobody", async (t) => {
  const cases: readonly (readonly [content: string, owner: object])[] = [
    ["c1\r\neth0", c1],
    [" \t\r\nc1\r\neth0\r\n ", c1],
    ["\u0085c1\r\neth0\u3000", c1],
    ["c1", legacy],
    ["c1\r\n", legacy],
    [" \r\n ", nobody],
    ["c1\neth0", nobody],
    ["c1\reth0", nobody],
    ["c1\r\neth0\r\nmore", nobody],
    ["c1\r\neth0 x", nobody],
    ["c1 \r\neth0", nobody],
    ["c1\r\neth/0", nobody],
    ["c1\r\nan-interface-name", nobody],
    ["-c1\r\neth0", nobody],
    ["\uFEFFc1\r\neth0", nobody],
  ];

  for (const [content, owner] of cases) {
    t.same(parseOwner(content), owner, JSON.stringify(content));
  }
});

test("an owner is described in a phrase", async (t) => {
  const cases: readonly (readonly [Owner, string])[] = [
    [parseOwner("c1\r\neth0"), "held by container c1, interface eth0"],
    [parseOwner("c1"), "held by container c1"],
    [parseOwner(""), "taken by a file that names no container"],
    [
      { kind: "unknown", reason: "open /a: input/output error", code: "EIO" },
      "taken by a file that cannot be read (open /a: input/output error)",
    ],
  ];

  for (const [owner, text] of cases) t.equal(describeOwner(owner), text);
});

test("owners are the same where all that a file names is", async (t) => {
  const kinds = ["c1\r\neth0", "c1\r\neth1", "c2\r\neth0", "c1", "c2", ""];
  for (const one of kinds) {
    for (const other of kinds) {
      t.equal(isSameOwner(parseOwner(one), parseOwner(other)), one === other, `${one}, ${other}`);
    }
  }
});

test("a reservation's content can be written again: id, CR LF, interface, and nothing after it", async (t) => {
  t.equal(contentOf(attachment("c1")), "c1\r\neth0");
  for (const content of ["c1\r\neth0", "c1"]) t.equal(contentOf(parseOwner(content)), content);
  t.equal(contentOf(parseOwner("")), undefined);
});
