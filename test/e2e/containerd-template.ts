/**
 * containerd's `conf_template`: a Go template that containerd renders into a configuration as soon
 * as the node has its podCIDR. This renders the part of the template language that such templates
 * use: `{{.Field}}`, `{{$variable}}`, `{{if $variable}}` and `{{range $index, $item := .Field}}`.
 */

type Values = ReadonlyMap<string, string | number | readonly string[]>;

/**
 * Renders a template as containerd does for a node.
 *
 * @param template the text of the template file
 * @param podCIDRs the podCIDRs of the node, in the order of `spec.podCIDRs`
 * @throws {Error} if the template uses an action outside the part above
 */
export function renderContainerdTemplate(template: string, podCIDRs: readonly string[]): string {
  const isIPv6 = (cidr: string) => cidr.includes(":");
  const routes = [
    ...(podCIDRs.some((cidr) => !isIPv6(cidr)) ? ["0.0.0.0/0"] : []),
    ...(podCIDRs.some(isIPv6) ? ["::/0"] : []),
  ];
  const tokens = template.split(/(\{\{.*?\}\})/);
  return renderBlock(
    tokens,
    new Map<string, string | readonly string[]>([
      [".PodCIDR", podCIDRs[0] ?? ""],
      [".PodCIDRRanges", podCIDRs],
      [".Routes", routes],
    ]),
  );
}

function renderBlock(tokens: readonly string[], values: Values): string {
  let text = "";
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? "";
    if (!token.startsWith("{{")) {
      text += token;
      continue;
    }
    const action = token.slice(2, -2).trim();
    const loop = /^range (\$\w+), (\$\w+) := (\.\w+)$/.exec(action);
    const condition = /^if (\$\w+)$/.exec(action);
    if (loop === null && condition === null) {
      text += String(lookUp(action, values));
      continue;
    }
    const end = endOfBlock(tokens, at);
    const body = tokens.slice(at + 1, end);
    at = end;
    if (loop !== null) {
      const [, index = "", item = "", list = ""] = loop;
      const items = lookUp(list, values);
      if (!Array.isArray(items)) throw new Error(`cannot range over ${list}`);
      for (const [position, element] of items.entries()) {
        text += renderBlock(body, new Map([...values, [index, position], [item, element]]));
      }
    } else if (lookUp(condition?.[1] ?? "", values)) {
      text += renderBlock(body, values);
    }
  }
  return text;
}

function lookUp(name: string, values: Values): string | number | readonly string[] {
  const value = values.get(name);
  if (value === undefined) throw new Error(`unknown template action {{${name}}}`);
  return value;
}

function endOfBlock(tokens: readonly string[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at++) {
    if (/^\{\{(range|if) /.test(tokens[at] ?? "")) depth++;
    if (tokens[at] === "{{end}}" && --depth === 0) return at;
  }
  throw new Error(`${tokens[start] ?? ""} has no {{end}}`);
}
