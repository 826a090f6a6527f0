/** Local time as Go's `log` writes it: `2026/01/31 23:59:59`. */
export function logTime(now: number): string {
  const time = new Date(now);
  const two = (part: number): string => String(part).padStart(2, "0");
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("/");
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":")}`;
}
