import fc from "fast-check";

/** Text of any code points. fast-check's own, of the unit `binary`, takes seconds to make a table of all. */
export const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }))
  .map((codes) => String.fromCodePoint(...codes));
