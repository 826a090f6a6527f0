import { test } from "tap";
import {
  isContainerId,
  isIdentifier,
  isInterfaceName,
  parseContainerId,
  parseInterfaceName,
} from "../../src/cni/attachment.ts";
import { refusalOf } from "./refusal.ts";

test("identifiers begin with a letter or digit, followed by letters, digits, _, . and -", async (t) => {
  for (const text of ["a", "A", "0", "a51debf7e1eb", "a_.-", "a..", "mynet.0", "a".repeat(5000)]) {
    t.equal(isIdentifier(text), true, text.slice(0, 20));
    t.equal(isContainerId(text), true, text.slice(0, 20));
  }
});

test("a name that could leave a directory or be hidden in it is not an identifier", async (t) => {
  for (const text of [
    "",
    ".",
    "..",
    ".a",
    "-a",
    "_a",
    "a/b",
    "../a",
    "a b",
    " a",
    "a\n",
    "a\r\neth0",
    "a\0",
    "1234%%%",
    "te%%st",
    "é",
    "a\u0661",
    "K\u212a",
  ]) {
    t.equal(isIdentifier(text), false, JSON.stringify(text));
    t.equal(isContainerId(text), false, JSON.stringify(text));
  }
});

test("a valid container id is returned unchanged", async (t) => {
  t.equal(parseContainerId("a51debf7e1eb"), "a51debf7e1eb");
});

test("an invalid container id is error 4 and is shown", async (t) => {
  t.strictSame(
    refusalOf(() => parseContainerId("some-%%container-id")),
    {
      code: 4,
      message: "invalid characters in containerID",
      details: "some-%%container-id",
    },
  );
});

test("interface names may contain anything but separators and white space", async (t) => {
  for (const name of [
    "eth0",
    "e",
    "...",
    "-eth",
    "a\\b",
    "a%b",
    "123456789012345",
    "\ufeff",
    "a\u200bb",
    "ééééééé",
    "😀😀😀",
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

test("interface names are limited to 15 bytes, not characters", async (t) => {
  for (const name of ["1234567890123456", "éééééééé", "😀😀😀😀", "testnamemorethan16"]) {
    t.strictSame(
      refusalOf(() => parseInterfaceName(name)),
      {
        code: 4,
        message: "interface name is too long",
        details: "interface name should be less than 16 characters",
      },
      name,
    );
    t.equal(isInterfaceName(name), false, name);
  }
});

test("interface names that mean directories are refused", async (t) => {
  for (const name of [".", ".."]) {
    t.strictSame(
      refusalOf(() => parseInterfaceName(name)),
      { code: 4, message: "interface name is . or ..", details: "" },
      name,
    );
    t.equal(isInterfaceName(name), false, name);
  }
});

test("interface names with a slash, a colon or any Unicode white space are refused", async (t) => {
  const whiteSpace =
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000";
  for (const character of ["/", ":", ...whiteSpace]) {
    const name = `et${character}h`;
    t.strictSame(
      refusalOf(() => parseInterfaceName(name)),
      {
        code: 4,
        message: "interface name contains / or : or whitespace characters",
        details: "",
      },
      encodeURI(name),
    );
    t.equal(isInterfaceName(name), false, encodeURI(name));
  }
});

test("the length of an interface name is checked before its characters", async (t) => {
  t.equal(
    refusalOf(() => parseInterfaceName("/".repeat(16))).message,
    "interface name is too long",
  );
});

test("an empty interface name is invalid", async (t) => {
  t.equal(isInterfaceName(""), false);
});
