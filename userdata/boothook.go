package userdata

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
)

// boothook is the script that cloud-init runs at every boot, in the earliest stage with user data. It is cut at the
// positions of the contract and the feature switches.
type boothook struct {
	head, features, tail string
	// config is the cloud-config part beside it.
	config string
}

// boothooks are the scripts by the contract's path, made once.
var boothooks = func() map[string]*boothook {
	all := make(map[string]*boothook)
	for _, family := range profile.All() {
		for _, path := range family.Contract.Paths() {
			all[path] = newBoothook("", path)
		}
	}
	return all
}()

// size is the number of bytes that append appends.
func (b *boothook) size(document, features []byte) int {
	size := len(b.head) + linesSize(len(document)) + len(b.tail)
	if len(features) > 0 {
		size += len(b.features) + linesSize(len(features))
	}
	return size
}

// append appends the whole script. Both values are base64 within quoted here-documents, so any content is data to the
// shell.
func (b *boothook) append(dst, document, features []byte) []byte {
	dst = append(dst, b.head...)
	dst = appendLines(dst, document)
	if len(features) > 0 {
		dst = append(dst, b.features...)
		dst = appendLines(dst, features)
	}
	return append(dst, b.tail...)
}

// newBoothook makes the script for a contract at path. All its paths are below root, which is "" except in tests.
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

// The script is plain POSIX: dash, bash and busybox run it alike. Its requirements:
//
//   - cloud-init removes its own first line, so the second line is the script's first.
//   - The guard searches for success, not only for the marker: the marker also exists after a failure,
//     and a reboot is then a second chance. Quotes within the result's strings are escaped in JSON,
//     so that only the key itself matches.
//   - A file is written under umask 077 to a new file, synced to the disk, and renamed: other users can
//     never read it, and it is never partial, whenever the power goes. Directories are created under
//     umask 022 in a subshell, because mkdir -p gives the mode of -m only to the last of them.
//   - noclobber (set -C) makes the shell open the new file with O_EXCL, so it follows no link.
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

// startPreload runs an image's own script that warms the caches, if there is one, while the contract is written, as AKS's own
// boothook does. Neither the boothook nor cloud-init waits for it, and its failure changes nothing.
const startPreload = `if [ -f '@PRELOAD@' ]; then
	(
		exec >/dev/null 2>&1 </dev/null
		umask 022
		exec nohup /bin/bash '@PRELOAD@'
	) &
fi

`

// startUnit starts Slipway's unit. There is no alternative: an AKS launcher that finds no AKS
// contract ends without a message, and the machine would wait for nothing.
const startUnit = `
systemctl start --no-block @UNIT@ || fail 'cannot start @UNIT@, is slipway-node installed?'
say 'started @UNIT@'
`

// startLauncher starts the launcher of AKS's images, if the image has it, as their own boothook does, because
// a unit would start seconds later; otherwise it starts a unit. Notes:
//
//   - If the launcher's unit is enabled (images before July 2026), systemd starts it in any case.
//     Then the script asks systemd to start the unit, so that it runs once.
//   - The launcher gets the usual umask back, because the scripts that it runs rely on it, and none of
//     cloud-init's files, because cloud-init waits until they are closed.
//   - On AKS's images a marker makes the scripts report success without doing anything, even after
//     a failure. So the script removes the marker of an attempt that is known to have failed. A marker
//     without a result means that an administrator wants no provisioning, so it stays.
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
