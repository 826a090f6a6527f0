import { test } from "tap";
import { cleanPath, join, parentOf } from "../../../src/store/files/paths.ts";

test("a path is cleaned as Go's filepath.Clean does it", (t) => {
  const cases = [
    ["/data/", "/data"],
    ["//data//sub/", "/data/sub"],
    ["/data/./sub/.", "/data/sub"],
    ["/data/x/../sub", "/data/sub"],
    ["/../data", "/data"],
    ["/", "/"],
    ["/..", "/"],
    ["data", "data"],
    ["./data", "data"],
    [".", "."],
    ["", "."],
    ["..", ".."],
    ["../../data", "../../data"],
    ["data/../..", ".."],
    ["/data/...", "/data/..."],
  ] as const;

  for (const [path, clean] of cases) t.equal(cleanPath(path), clean, path);
  t.end();
});

test("a name is joined to a clean directory as Go's filepath.Join does it", (t) => {
  t.equal(join("/data", "a"), "/data/a");
  t.equal(join("/", "a"), "/a");
  t.equal(join(".", "a"), "a");
  t.end();
});

test("a clean path lies in the one above it, and the topmost in itself", (t) => {
  const cases = [
    ["/data/net", "/data"],
    ["/data", "/"],
    ["/", "/"],
    ["data/net", "data"],
    ["data", "."],
    [".", "."],
  ] as const;

  for (const [path, parent] of cases) t.equal(parentOf(path), parent, path);
  t.end();
});
