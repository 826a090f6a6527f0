// test: each executable, one if short, portable in short, Go plugin, slow
import { test } from "tap";
import { differences } from "../../blackbox/differences.ts";
import { explanations } from "./decided.ts";
import { generatedCallScenarios } from "./generated-calls.ts";
import { testScenarios } from "./scenario-tests.ts";

testScenarios(generatedCallScenarios);

test("what explains a difference is a decided one", async (t) => {
  const titles = differences.map(({ title }) => title);
  t.same(
    Object.keys(explanations).filter((title) => !titles.includes(title)),
    [],
  );
});
