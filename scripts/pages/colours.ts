/** The colours and the font of the pictures. */

/** The colours of a light page, with enough contrast for small text. */
export const PAGE = "#ffffff";
export const BOX = "#f6f8fa";
export const LINE = "#8c959f";
export const TEXT = "#1f2328";
export const FAINT = "#59636e";
export const ACCENT = "#0969da";
export const WARNING = "#9a6700";
export const OTHER = "#1a7f37";

export const MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
