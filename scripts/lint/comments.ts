/** How comments read. */

import type { SourceFile } from "./source.ts";

/** Words after which a noun does not follow. */
const JOINTS =
  "among|and|are|as|at|before|behind|but|by|can|for|from|had|has|have|in|is|it|may|must|of|on|or|that|they|to|was|were|when|where|whether|which|while|who|whose|with|without";

/** The beginnings of a comment that stand for a noun that is not there. */
const NOUNLESS = [
  new RegExp(
    "^(?:Those|These|That|This|Each|One|Both|All|Some|Any|None|Either|Neither|Another|Others|" +
      `The (?:same|others?|ones?|rest|first|last))(?:[.,:;]|$| (?:${JOINTS})\\b)`,
  ),
  /^(?:It|They|Them|He|She|We|Theirs)\b/,
];

/** Prepositions, before which the noun is missing; a test may begin with the case that it is about. */
const NOUNLESS_BUT_IN_TESTS = /^(?:As|By|For|From|In|Of|Per|Such as|To be|With|Without)\b/;

/** Words for a man or a woman: an owner or a reader is anybody. */
const GENDERED = /\b(?:him|his|himself|hers?|herself)\b/i;

/** A doc comment, but not the `/**` with a slash behind it of a glob. */
const DOC_COMMENT = /\/\*\*(?!\/)([\s\S]*?)\*\//g;

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^\s*|[;,{}(] )\/\/.*$/gm;

/** Finds doc comments that do not name what they document, and words for a man or a woman; a line for each. */
export function commentProblems(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const forms = path.startsWith("test/") ? NOUNLESS : [...NOUNLESS, NOUNLESS_BUT_IN_TESTS];
    const at = (index: number): string => `${path}:${text.slice(0, index).split("\n").length}`;
    const nounless = [...text.matchAll(DOC_COMMENT)].flatMap(({ index, 1: content = "" }) => {
      const words = content
        .replaceAll(/^\s*\*?\s*/gm, " ")
        .replaceAll(/\s+/g, " ")
        .trim();
      if (!forms.some((form) => form.test(words))) return [];
      return [`${at(index)}: a doc comment names what it documents, found: ${words.slice(0, 60)}`];
    });
    const gendered = [...text.matchAll(COMMENT)].flatMap(({ index, 0: comment }) => {
      const [word] = GENDERED.exec(comment) ?? [];
      return word === undefined
        ? []
        : [`${at(index)}: expected a word for anybody, found: ${word}`];
    });
    return [...nounless, ...gendered];
  });
}
