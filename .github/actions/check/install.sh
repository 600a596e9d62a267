#!/usr/bin/env bash
# Installs the release VERSION of repoglot into the runner's temporary folder, checks
# its checksum, and puts it into PATH for the next steps.
set -euo pipefail
[ "$VERSION" != installed ] || exit 0
releases=${REPOGLOT_RELEASES:-https://github.com/repoglot/repoglot/releases}
if [ "$VERSION" = latest ]; then from=$releases/latest/download; else from=$releases/download/$VERSION; fi
case $(uname -s) in
Linux) os=linux pack=tar.gz ;;
Darwin) os=darwin pack=tar.gz ;;
*) os=windows pack=zip ;;
esac
case $(uname -m) in
arm64 | aarch64) arch=arm64 ;;
*) arch=amd64 ;;
esac
file=repoglot_${os}_$arch.$pack
folder=$RUNNER_TEMP/repoglot
mkdir -p "$folder"
cd "$folder"
curl -fsSL --retry 3 -o "$file" "$from/$file"
curl -fsSL --retry 3 -o checksums.txt "$from/checksums.txt"
if command -v sha256sum >/dev/null; then sum=sha256sum; else sum='shasum -a 256'; fi
grep " \*\{0,1\}$file\$" checksums.txt | $sum -c - >&2
if [ "$pack" = zip ]; then unzip -qo "$file"; else tar xzf "$file"; fi
echo "$folder" >>"$GITHUB_PATH"
