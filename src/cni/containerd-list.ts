/**
 * The shell command that prints the ids as `ctr` and nerdctl use them in CNI calls, of all namespaces of containerd: a list
 * of one namespace would lack the living containers of the others. It fails if any part of it does.
 */
export const CONTAINERD_LIST =
  "ns=$(ctr namespaces ls -q) && for n in $ns; do ctr -n $n containers ls -q | sed s/^/$n-/ || exit; done";
