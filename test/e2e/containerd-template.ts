/** containerd's `conf_template`: a Go template that containerd renders as soon as the node has its podCIDR. */

/**
 * Renders a template as containerd does for a node, if its actions are lists such as `{{range $i, $item := .Routes}}{{if $i}},
 * {{end}}"{{$item}}"{{end}}`. Any other action stays, and is not JSON.
 *
 * @param template the text of the template file
 * @param podCIDRs the podCIDRs of the node, in the order of `spec.podCIDRs`
 */
export function renderContainerdTemplate(template: string, podCIDRs: readonly string[]): string {
  const isIPv6 = (cidr: string) => cidr.includes(":");
  const routes = [
    ...(podCIDRs.some((cidr) => !isIPv6(cidr)) ? ["0.0.0.0/0"] : []),
    ...(podCIDRs.some(isIPv6) ? ["::/0"] : []),
  ];
  const list =
    /\{\{range (\$\w+), (\$\w+) := \.(PodCIDRRanges|Routes)\}\}\{\{if \1\}\}(.*?)\{\{end\}\}(.*?)\{\{end\}\}/g;
  return template.replaceAll(list, (_, _index, item, field, separator, body) => {
    const items = field === "Routes" ? routes : podCIDRs;
    return items.map((cidr) => body.replaceAll(`{{${item}}}`, cidr)).join(separator);
  });
}
