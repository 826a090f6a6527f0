import { test } from "tap";
import {
  isContainerId,
  isIdentifier,
  isInterfaceName,
  parseInterfaceName,
} from "../../src/cni/attachment.ts";
import { refusalOf } from "./refusal.ts";

test("identifiers begin with a letter or digit, followed by letters, digits, _, . and -", async (t) => {
  for (const text of ["a", "A", "0", "a_.-", "a..", "a".repeat(5000)]) {
    t.equal(isIdentifier(text), true, text.slice(0, 20));
    t.equal(isContainerId(text), true, text.slice(0, 20));
  }
});

test("a name that could leave a directory or be hidden in it is not an identifier", async (t) => {
  for (const text of [
    ...["", ".", "..", ".a", "-a", "_a", "a/b", "../a", "a b", " a", "a%", "é"],
    ...["a\n", "a\r\neth0", "a\0", "a\u0661", "K\u212a"],
  ]) {
    t.equal(isIdentifier(text), false, JSON.stringify(text));
    t.equal(isContainerId(text), false, JSON.stringify(text));
  }
});

test("interface names may contain anything but separators and white space", async (t) => {
  for (const name of [
    ...["eth0", "e", "...", "-eth", "a\\b", "a%b", "123456789012345"],
    ...["\ufeff", "a\u200bb", "ééééééé", "😀😀😀"],
  ]) {
    t.equal(parseInterfaceName(name), name, JSON.stringify(name));
    t.equal(isInterfaceName(name), true, JSON.stringify(name));
  }
});

test("interface names that are not what the caller gave, since that was no UTF-8, are refused", async (t) => {
  for (const name of ["a\ufffdb", "\ufffd".repeat(9), "a\ud800", "\udc00a"]) {
    t.match(
      refusalOf(() => parseInterfaceName(name)),
      { code: 4, message: "interface name is not UTF-8" },
      JSON.stringify(name),
    );
  }
  t.equal(isInterfaceName("a\ufffdb"), true, "a list of GC has it so, too");
});

test("interface names are refused with the rule that they break; one that is too long for that", async (t) => {
  const whiteSpace =
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000";
  const names = {
    "interface name is too long": ["1234567890123456", "éééééééé", "😀😀😀😀", "/".repeat(16)],
    "interface name is . or ..": [".", ".."],
    "interface name contains / or : or whitespace characters": ["/", ":", ...whiteSpace].map(
      (one) => `et${one}h`,
    ),
  };
  for (const [message, broken] of Object.entries(names)) {
    for (const name of broken) {
      t.match(
        refusalOf(() => parseInterfaceName(name)),
        { code: 4, message },
        encodeURI(name),
      );
      t.equal(isInterfaceName(name), false, encodeURI(name));
    }
  }
  t.equal(isInterfaceName(""), false);
});
