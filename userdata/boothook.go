package userdata

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
)

// boothook is the script that cloud-init runs at every boot, in its earliest stage that has user
// data, cut where the contract and the feature switches go in.
type boothook struct {
	head, features, tail string
	// config is the cloud-config part beside it.
	config string
}

// boothooks are the scripts by the place of the contract, made once.
var boothooks = func() map[string]*boothook {
	all := make(map[string]*boothook)
	for _, family := range profile.All() {
		for _, path := range family.Contract.Paths() {
			all[path] = newBoothook("", path)
		}
	}
	return all
}()

// size is how much append appends.
func (b *boothook) size(document, features []byte) int {
	size := len(b.head) + linesSize(len(document)) + len(b.tail)
	if len(features) > 0 {
		size += len(b.features) + linesSize(len(features))
	}
	return size
}

// append appends the whole script. Both values go in as base64, within quoted here-documents: they
// are data to the shell whatever they say.
func (b *boothook) append(dst, document, features []byte) []byte {
	dst = append(dst, b.head...)
	dst = appendLines(dst, document)
	if len(features) > 0 {
		dst = append(dst, b.features...)
		dst = appendLines(dst, features)
	}
	return append(dst, b.tail...)
}

// newBoothook makes the script for a contract at path, all its places below root: "" but in tests.
func newBoothook(root, path string) *boothook {
	family := (&Contract{Path: path}).family()
	early, start := "", startUnit
	if family.Agent.Launcher != "" {
		start = startLauncher
	}
	if family.Agent.Preload != "" {
		early = startPreload
	}
	fill := strings.NewReplacer(
		"@CONTRACT@", root+path,
		"@FEATURES@", root+family.Paths.Features,
		"@MARKER@", root+family.Publication.Complete,
		"@RESULT@", root+family.Publication.Result,
		"@PRELOAD@", root+family.Agent.Preload,
		"@LAUNCHER@", root+family.Agent.Launcher,
		"@LOGS@", root+family.Agent.Logs,
		"@OUTPUT@", root+family.Agent.Output,
		"@UNIT@", profile.AgentUnit,
		"@OWNUNIT@", family.Agent.Unit,
	).Replace
	return &boothook{
		head:     fill(boothookHead + early + "put '@CONTRACT@' <<'SLIPWAY_END'\n"),
		features: fill("SLIPWAY_END\nput '@FEATURES@' <<'SLIPWAY_END'\n"),
		tail:     fill("SLIPWAY_END\n" + start),
		config:   cloudConfigPart(family),
	}
}

// The script is plain POSIX: dash, bash and busybox run it alike. What must be so:
//
//   - cloud-init strips its own first line, so that the second is the script's first.
//   - The guard looks for success, not for the marker alone: the marker stands after a failure too,
//     and a reboot is then a second chance. Quotes within the result's strings are escaped in JSON,
//     so that nothing but the key itself matches.
//   - A file is made under umask 077 in a new file, brought to the disk, and renamed: it is never
//     readable by others and never partial, whenever the power goes. Directories are made under
//     umask 022 in a subshell, for mkdir -p gives the mode of -m to the last of them only.
//   - noclobber (set -C) has the new file opened with O_EXCL: no link is followed.
const boothookHead = `#cloud-boothook
#!/bin/sh
# Slipway: write the contract and start the agent. A machine that is provisioned is left alone.
set -euC
umask 077

say() {
	echo "slipway-boothook: $1"
	if command -v logger >/dev/null 2>&1; then logger -t slipway-boothook -- "$1" || :; fi
}

fail() {
	say "$1" >&2
	exit 1
}

mkdirs() {
	(umask 022 && mkdir -p "$1") || fail "cannot make the directory $1"
}

# put FILE writes standard input, decoded, for root's eyes only: all of it or nothing.
put() {
	mkdirs "${1%/*}"
	rm -f "$1.slipway" &&
		base64 -d >"$1.slipway" &&
		chmod 0600 "$1.slipway" &&
		sync "$1.slipway" &&
		mv -f "$1.slipway" "$1" || {
		rm -f "$1.slipway"
		fail "cannot write $1"
	}
}

if [ -e '@MARKER@' ] && grep -q '"ExitCode"[[:space:]]*:[[:space:]]*"0"' '@RESULT@' 2>/dev/null; then
	say 'this machine is provisioned already, nothing to do'
	exit 0
fi

`

// startPreload has an image that can do so warm its caches while the contract is written, as AKS's own boothook does. It is
// waited for neither here nor by cloud-init, and its failure changes nothing.
const startPreload = `if [ -f '@PRELOAD@' ]; then
	(
		exec >/dev/null 2>&1 </dev/null
		umask 022
		exec nohup /bin/bash '@PRELOAD@'
	) &
fi

`

// startUnit starts Slipway's unit. There is no second choice: an AKS launcher that finds no AKS
// contract ends without a word, and everybody would wait.
const startUnit = `
systemctl start --no-block @UNIT@ || fail 'cannot start @UNIT@, is slipway-node installed?'
say 'started @UNIT@'
`

// startLauncher starts whatever the image has: the launcher of AKS's images as their own boothook does,
// which is seconds earlier than the unit can be; or a unit. Of note:
//
//   - Where the launcher's unit is enabled (images before July 2026) systemd starts it in any case:
//     then systemd is asked, which knows to run it once.
//   - The launcher gets the usual umask back, because the scripts that it runs rely on it, and none of
//     cloud-init's files, because cloud-init waits until they are closed.
//   - On AKS's images a marker makes the scripts report success without doing anything, even after
//     a failure. So the marker of an attempt that is known to have failed is taken away. A marker
//     without a result is someone's wish to be left alone, and stays.
const startLauncher = `
if [ -x '@LAUNCHER@' ] && ! systemctl is-enabled --quiet @OWNUNIT@ 2>/dev/null; then
	if [ -e '@RESULT@' ]; then rm -f '@MARKER@' || fail 'cannot remove @MARKER@'; fi
	mkdirs '@LOGS@'
	true >>'@OUTPUT@' || fail 'cannot write @OUTPUT@'
	(
		exec >>'@OUTPUT@' 2>&1 </dev/null
		umask 022
		exec nohup '@LAUNCHER@'
	) &
	say 'started @LAUNCHER@'
	exit 0
fi
unit=@UNIT@
systemctl cat "$unit" >/dev/null 2>&1 || unit=@OWNUNIT@
systemctl start --no-block "$unit" || fail "cannot start $unit, is this a node image?"
say "started $unit"
`
