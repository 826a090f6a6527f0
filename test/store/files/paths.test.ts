import { test } from "tap";
import { cleanPath, join } from "../../../src/store/files/paths.ts";

test("a path is cleaned as Go's filepath.Clean does it", async (t) => {
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
});

test("a name is joined to a clean directory as Go's filepath.Join does it", async (t) => {
  t.equal(join("/data", "a"), "/data/a");
  t.equal(join("/", "a"), "/a");
  t.equal(join(".", "a"), "a");
});
