/** Paths, by lexical processing alone. */

/** `directory/name`; the directory must be clean. */
export function join(directory: string, name: string): string {
  if (directory === ".") return name;
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** The directory in which a clean path lies; for `/` and `.` the path itself. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return ".";
  return slash === 0 ? "/" : path.slice(0, slash);
}

/** The shortest equivalent path, as Go's `filepath.Clean`: no `//`, no `.`, no inner `..`. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith("/");
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!rooted) parts.push(part);
  }
  return (rooted ? "/" : "") + parts.join("/") || ".";
}
