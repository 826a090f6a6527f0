export function checkRelease(directory: string, verify: string | undefined): readonly string[] {
  return [directory, `${verify}`];
}
