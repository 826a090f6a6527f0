#!/usr/bin/env bash
# Builds the Kubernetes that `npm run test:kubernetes` starts, from Debian's source and with Debian's Go, and puts it into
# build/kubernetes with etcd and test/kubernetes/cri-proxy.go, without installing anything. It takes about twenty minutes of processor time once; what
# exists already is left as it is, and a build that was interrupted goes on where it was.
# shellcheck source=scripts/fetch/debian.sh
source "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

built="$root/build/kubernetes"
programs=(cri-proxy kubelet kube-scheduler kube-controller-manager kube-apiserver)

all_built() {
  local program
  for program in etcd "${programs[@]}"; do [ -x "$built/$program" ] || return 1; done
}

if all_built; then
  echo "Kubernetes is in $built already."
  exit 0
fi
open_suite bookworm deb deb-src
mkdir -p "$built"
unpack_go "$work/unpacked" etcd-server golang-github-modern-go-reflect2-dev
cp "$work/unpacked/usr/bin/etcd" "$built/etcd"

# The original tarball is enough: it has all the modules in vendor/.
(cd "$work" && apt-get "${options[@]}" source --download-only --tar-only kubernetes >>"$log" 2>&1) ||
  give_up "apt could not fetch the source of kubernetes; see $log."
tarball=$(echo "$work"/kubernetes_*.orig.tar.*)
source="$work/home/go/src/k8s.io/kubernetes"
mkdir -p "$source"
tar -xf "$tarball" -C "$source" --strip-components=1 >>"$log" 2>&1 ||
  give_up "tar could not unpack $(basename "$tarball"); see $log."
cd "$source"

# The reflect2 in vendor/ corrupts memory if it is built with Go 1.18 or later; that of Debian's own package does not.
reflect2=vendor/github.com/modern-go/reflect2
rm "$reflect2"/*.go "$reflect2"/*.s
cp "$work/unpacked/usr/share/gocode/src/github.com/modern-go/reflect2"/*.{go,s} "$reflect2"

# Debian's version says "1.20.5+really1.20.2" of what is 1.20.2.
version=$(sed -E 's/.*_(.*\+really)?([0-9.]+)\.orig\..*/\2/' <<<"$tarball")
linked="-s -w"
for package in component-base/version client-go/pkg/version; do
  for value in "gitVersion=v$version" gitMajor=1 "gitMinor=$(cut -d. -f2 <<<"$version")" gitTreeState=clean; do
    linked+=" -X k8s.io/kubernetes/vendor/k8s.io/$package.$value"
  done
done

# build PROGRAM PACKAGE: builds a program into $built. Go's own record of what it has compiled lets a later run go on.
go_cache="$built/go-cache"
build() {
  echo "Building $1 ..."
  run_go build -trimpath -buildvcs=false -ldflags "$linked" -o "$work/$1" "$2" ||
    give_up "Go could not build $1; see $log."
  mv "$work/$1" "$built/$1"
}

# It needs gRPC, which is in vendor/.
mkdir cmd/cri-proxy
cp "$root/test/kubernetes/cri-proxy.go" cmd/cri-proxy

# The only generated file that the source has not: without it the API server does not start.
generated=pkg/generated/openapi/zz_generated.openapi.go
if [ ! -x "$built/kube-apiserver" ] && [ ! -s "$built/$(basename "$generated")" ]; then
  build openapi-gen k8s.io/kubernetes/vendor/k8s.io/kube-openapi/cmd/openapi-gen
  packages=$(grep -Rl --include='*.go' '^// *+k8s:openapi-gen=' vendor/k8s.io pkg cmd plugin |
    grep -vE '^vendor/k8s.io/(code-generator|sample-apiserver)/' |
    xargs -n1 dirname | sort -u | sed 's#^#k8s.io/kubernetes/#' | paste -sd,)
  env -i PATH="$goroot/bin:$PATH" HOME="$work/home" GOROOT="$goroot" GOPATH="$work/home/go" GO111MODULE=off \
    "$built/openapi-gen" --logtostderr -i "$packages" -p k8s.io/kubernetes/pkg/generated/openapi \
    -O zz_generated.openapi -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -r "$work/violations" >>"$log" 2>&1 ||
    give_up "openapi-gen failed; see $log."
  # It reports the very exceptions that the source lists, so it has seen all definitions.
  cmp "$work/violations" api/api-rules/violation_exceptions.list >>"$log" 2>&1 ||
    give_up "openapi-gen did not see all definitions; see $log."
  cp "$generated" "$work"
  mv "$work/$(basename "$generated")" "$built"
fi
[ -x "$built/kube-apiserver" ] || cp "$built/$(basename "$generated")" "$generated"

for program in "${programs[@]}"; do
  [ -x "$built/$program" ] || build "$program" "k8s.io/kubernetes/cmd/$program"
done
rm -rf "$go_cache" "$built/openapi-gen" "${built:?}/$(basename "$generated")"
echo "Kubernetes is in $built: $(basename "$tarball") with $go_package"
