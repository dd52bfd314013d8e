// Package mkosi writes the configuration by which mkosi makes the disk of a node image: the distribution's packages, the partitions, the
// boot loader, and the files that every node image has.
//
// mkosi works with the configuration alone, without Slipway. The package is pure: it returns files, and internal/image/build writes
// them and runs mkosi. The settings are those of mkosi 25, mkosi(1), and of repart.d(5).
package mkosi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/image/spec"
)

// Name is the name of what mkosi makes, without the ending: node.raw, node.efi, ...
const Name = "node"

// The directories of the configuration, beside mkosi.conf.
const (
	// Components has the components' files, at their paths in the image.
	Components = "components"
	// Output has what mkosi makes.
	Output = "output"
)

// Image is the disk of a node image.
type Image struct {
	// Base is the distribution. With Tree, only its suite counts.
	Base spec.Base
	// Architecture is "amd64" or "arm64".
	Architecture string
	// Tree is the absolute path of a tree with the distribution, to which no packages are added. If empty, mkosi installs the suite's.
	Tree string
	// Mirror is the URL of a Debian archive. If empty, it is that of the base's snapshot.
	Mirror string
	// Inputs is the digest of what the image is made of. The identifiers of the disk come from it.
	Inputs [sha256.Size]byte
	// Epoch is the time of all files that are not older.
	Epoch time.Time
	// SecureBoot is nil if the image is not signed.
	SecureBoot *SecureBoot
	// QCOW2 adds the disk in QEMU's format.
	QCOW2 bool
}

// SecureBoot is the key by which the boot loader and the kernel are signed, as absolute paths of PEM files.
type SecureBoot struct{ Key, Certificate string }

// File is a file of the configuration, a link, or an empty directory.
type File struct {
	Path string
	// Mode are its permission bits, with fs.ModeDir for a directory.
	Mode    fs.FileMode
	Content []byte
	// Link is the link's target. It is empty if this is a file.
	Link string
}

// convert is the script that mkosi runs when it has made the disk. qemu-img is one of its tools.
const convert = `#!/bin/sh
set -eu
qemu-img convert -f raw -O qcow2 "$OUTPUTDIR/` + Name + `.raw" "$OUTPUTDIR/` + Name + `.qcow2"
`

// setting is a setting of a section. A list has several values.
type setting struct {
	key    string
	values []string
	// between is what separates the values of a list, besides line ends: a comma or a blank.
	between string
}

// section is a section of a configuration.
type section struct {
	name     string
	settings []setting
}

func on(key string, values ...string) setting { return setting{key, values, ","} }

func words(key string, values ...string) setting { return setting{key, values, " "} }

// Files returns the configuration, by path. The error names a value that mkosi or apt splits, expands, or takes for another setting.
func (i *Image) Files() ([]File, error) {
	s, err := suiteOf(i.Base.Suite)
	if err != nil {
		return nil, err
	}
	m, known := machines[i.Architecture]
	if !known {
		return nil, fmt.Errorf("the architecture %q is unknown", i.Architecture)
	}
	main, err := write(i.main(s, m))
	if err != nil {
		return nil, err
	}
	files := []File{
		{Path: "mkosi.conf", Mode: 0o644, Content: main},
		{Path: "mkosi.finalize.d/10-node", Mode: 0o755, Content: finalize},
		{Path: "mkosi.finalize.d/20-initrd", Mode: 0o755, Content: makeInitrd},
		{Path: "initrd/init", Mode: 0o755, Content: initrdInit},
		{Path: "initrd/modules", Mode: 0o644, Content: []byte(strings.Join(initrdModules, "\n") + "\n")},
	}
	if i.QCOW2 {
		files = append(files, File{Path: "mkosi.postoutput", Mode: 0o755, Content: []byte(convert)})
	}
	for _, p := range partitions {
		content, err := write([]section{p.section})
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: "mkosi.repart/" + p.name, Mode: 0o644, Content: content})
	}
	if i.Tree == "" {
		sources, err := i.sources(s)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: "mkosi.sandbox/etc/apt/sources.list.d/mkosi.sources", Mode: 0o644, Content: sources})
	} else {
		// bootctl installs the boot loader there. mkosi makes the directory only in a tree of its distribution.
		files = append(files, File{Path: extra + "/efi", Mode: fs.ModeDir | 0o755})
	}
	tree, err := everyImage()
	if err != nil {
		return nil, err
	}
	files = append(files, tree...)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// main is mkosi.conf.
func (i *Image) main(s *suite, m machine) []section {
	content := []setting{
		on("SourceDateEpoch", fmt.Sprint(i.Epoch.Unix())),
		on("WithDocs", "no"),
		// Without the package database, scanners and people cannot tell what the image has.
		on("CleanPackageMetadata", "no"),
		on("ExtraTrees", Components),
		on("Bootable", "yes"),
		on("Bootloader", "systemd-boot"),
		on("UnifiedKernelImages", "yes"),
		words("KernelCommandLine", append([]string{"root=PARTUUID", "rw"}, m.consoles...)...),
		// The initrd has the modules that it needs.
		on("KernelModulesInitrd", "no"),
	}
	if i.Tree == "" {
		packages := append(slices.Clone(s.packages), strings.ReplaceAll(s.kernel, "{arch}", i.Architecture))
		packages = append(packages, i.Base.Packages...)
		slices.Sort(packages)
		content = append(content, on("Packages", slices.Compact(packages)...))
	} else {
		content = append(content, on("BaseTrees", i.Tree))
	}
	sections := []section{
		{"Distribution", []setting{on("Distribution", s.distribution), on("Release", i.Base.Suite), on("Architecture", m.name)}},
		{"Output", []setting{
			on("Format", "disk"),
			// The disks of clouds have sectors of 512 bytes. Without the setting, systemd-repart makes a FAT with sectors of 4096 bytes, which
			// the firmware does not read there.
			on("SectorSize", "512"), on("Output", Name), on("OutputDirectory", Output), on("Seed", i.seed()), on("ManifestFormat", "json"),
			on("SplitArtifacts", "uki", "kernel", "initrd"),
		}},
		{"Content", content},
	}
	if i.Tree != "" {
		// Without it, mkosi asks the distribution's own archives for their packages first.
		sections = append(sections, section{"Build", []setting{on("CacheOnly", "always")}})
	}
	if b := i.SecureBoot; b != nil {
		sections = append(sections, section{"Validation", []setting{
			on("SecureBoot", "yes"), on("SecureBootKey", b.Key), on("SecureBootCertificate", b.Certificate),
			// Clouds enroll the certificate themselves, by the settings of their image.
			on("SecureBootAutoEnroll", "no"), on("SignExpectedPcr", "no"),
		}})
	}
	return sections
}

// seed is the UUID from which systemd-repart derives the disk's and the partitions' identifiers, and ext4's. It has the form of
// version 8, RFC 9562: a digest.
func (i *Image) seed() string {
	id := i.Inputs
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	text := hex.EncodeToString(id[:16])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// sources are apt's sources, by sources.list(5).
func (i *Image) sources(s *suite) ([]byte, error) {
	var b strings.Builder
	for _, a := range s.archives {
		at := i.Mirror
		if at == "" {
			at = strings.ReplaceAll(a.snapshot, "{snapshot}", i.Base.Snapshot)
		} else {
			at = strings.TrimSuffix(at, "/") + a.beside
		}
		if strings.ContainsAny(at, " \t\r\n") {
			return nil, fmt.Errorf("the URL of the package archive has a blank: %q", at)
		}
		fmt.Fprintf(&b, "Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n", at, strings.ReplaceAll(a.suites, "{suite}", i.Base.Suite), s.keyring)
		if i.Mirror == "" {
			// An archive of an earlier time has lists that are no longer valid today.
			b.WriteString("Check-Valid-Until: no\n")
		}
		b.WriteString("\n")
	}
	return []byte(b.String()), nil
}

// write writes sections. A value that mkosi would split, expand or take for another setting is an error.
func write(sections []section) ([]byte, error) {
	var b strings.Builder
	for n, s := range sections {
		if n > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "[%s]\n", s.name)
		for _, set := range s.settings {
			for _, value := range set.values {
				if value == "" || strings.ContainsAny(value, set.between+"%\x00\r\n\"'") || strings.TrimSpace(value) != value {
					return nil, fmt.Errorf("%s= in [%s] cannot have the value %q: choose a name without commas, quotes, percent signs and line ends", set.key, s.name, value)
				}
			}
			if len(set.values) == 1 {
				fmt.Fprintf(&b, "%s=%s\n", set.key, set.values[0])
				continue
			}
			fmt.Fprintf(&b, "%s=\n", set.key)
			for _, value := range set.values {
				fmt.Fprintf(&b, "    %s\n", value)
			}
		}
	}
	return []byte(b.String()), nil
}
