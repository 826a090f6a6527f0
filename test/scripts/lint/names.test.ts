import { test } from "tap";
import { nameProblems } from "../../../scripts/lint/names.ts";

const file = (path: string, text: string) => ({ path, text, imports: [] });

test("two files of src that export a function of one name are a problem", async (t) => {
  const files = [
    file("src/a.ts", "export function ownerOf(): void {}\n"),
    file("src/b.ts", "export function ownerOf(): void {}\nexport function other(): void {}\n"),
  ];
  t.strictSame(nameProblems(files), ["src/a.ts, src/b.ts: each exports a function ownerOf"]);
});

test("overloads, what is not exported, tests and the engines' own functions are none", async (t) => {
  const overloads = "export function keyOf(a: 1): 1;\nexport function keyOf(a: 2): 2;\n";
  const serve = "export function serve(): void {}\n";
  const files = [
    file("src/a.ts", `${overloads}function textOf(): void {}\n`),
    file("src/b.ts", "export function textOf(): void {}\n"),
    file("test/a.ts", "export function textOf(): void {}\n"),
    file("src/system/node/serve.ts", serve),
    file("src/system/quickjs/serve.ts", serve),
  ];
  t.strictSame(nameProblems(files), []);
});
