#!/bin/sh
# Makes vendor/ from the sources that Debian's golang-*-dev packages install, so
# that plain `go build` finds every module of go.mod without a network.
# Run from the folder of go.mod.
set -eu

sources=/usr/share/gocode/src

rm -rf vendor
mkdir vendor
sed -n 's/^\t\([^ ]*\) \(v[^ ]*\).*/\1 \2/p' go.mod | while read -r module version; do
	if ! [ -d "$sources/$module" ]; then
		echo "$module is not installed: run 'make packages' as root" >&2
		exit 1
	fi
	mkdir -p "vendor/$(dirname "$module")"
	ln -s "$sources/$module" "vendor/$module"
	language=$(sed -n 's/^go //p' "$sources/$module/go.mod")
	printf '# %s %s\n## explicit; go %s\n' "$module" "$version" "$language"
	(cd "$sources" && find "$module" -name '*.go' -printf '%h\n' | sort -u)
done >vendor/modules.txt
