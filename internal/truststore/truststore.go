// Package truststore builds the bundle and the links with the certificate authorities that a machine trusts, byte for
// byte like the distribution's tool: update-ca-certificates of Debian and of Flatcar. That tool starts some thousand
// processes. To the bundle of update-ca-trust it only adds certificates.
//
// It only reads, through its caller: the engine, which writes the result. It verifies no certificate.
package truststore

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// Reader reads the files of a machine. A missing file is empty.
type Reader interface {
	// Names are the names in a directory, sorted.
	Names(dir string) []string
	// Content is the content of a regular file, also through links. It is nil for anything else.
	Content(path string) []byte
	// Target is a link's target as it is written. It is empty for anything else.
	Target(path string) string
}

// Store is the desired state.
type Store struct {
	// Bundle is the content of the bundle.
	Bundle []byte
	// Links are the links in the directory of links, by name. Links with other names must be removed. Nil means that
	// they stay.
	Links map[string]string
}

// Of builds a store from a machine's files.
func Of(m Reader, spec *resource.TrustStore) Store {
	d := directory{m: m, dir: spec.Links, links: make(map[string]string)}
	switch {
	case spec.Selection != "" && m.Content(spec.Selection) != nil:
		return d.debian(spec)
	case spec.Selection == "" && spec.Links != "":
		return d.flatcar()
	}
	// Only the distribution's tool knows the rest of the bundle. A machine without the list of Debian's tool does not
	// have that tool.
	bundle := m.Content(spec.Bundle)
	for _, added := range spec.Added {
		if certificate := m.Content(added); !bytes.Contains(bundle, certificate) {
			bundle = slices.Concat(wholeLines(bundle), wholeLines(certificate))
		}
	}
	return Store{Bundle: bundle}
}

// directory is the desired directory of links.
type directory struct {
	m     Reader
	dir   string
	links map[string]string
}

// debian builds what update-ca-certificates --fresh builds (Debian 12, ca-certificates 20230311): the selected
// certificates of packages in the order of the selection, then an administrator's in the order of their paths.
func (d *directory) debian(spec *resource.TrustStore) Store {
	names := d.m.Names(d.dir)
	for _, name := range names {
		if target := d.target(name); target != "" && d.stays(name, spec, maxLinks) {
			d.links[name] = target
		}
	}
	var bundle []byte
	add := func(certificate string) {
		bundle = append(bundle, wholeLines(d.m.Content(certificate))...)
		d.links[linkName(certificate)] = certificate
	}
	for line := range strings.Lines(string(d.m.Content(spec.Selection))) {
		line = strings.Trim(line, " \t\n")
		certificate := spec.Packages + "/" + line
		if line != "" && line[0] != '#' && line[0] != '!' && d.m.Content(certificate) != nil {
			add(certificate)
		}
	}
	certificates := found(d.m, spec.Anchors, maxDepth)
	slices.Sort(certificates)
	for _, certificate := range certificates {
		add(certificate)
	}
	for name := range d.links {
		names = append(names, name)
	}
	d.rehash(names)
	return Store{bundle, d.links}
}

// flatcar builds what Flatcar's update-ca-certificates builds: links to all certificates in the directory, and a bundle
// of the targets of the first ten links of each hash (flatcar/scripts: app-misc/ca-certificates).
func (d *directory) flatcar() Store {
	names := d.m.Names(d.dir)
	for _, name := range names {
		if target := d.target(name); target != "" && !isHash(name) {
			d.links[name] = target
		}
	}
	d.rehash(names)
	var hashes []string
	for name := range d.links {
		if isHash(name) && len(path.Ext(name)) == 2 {
			hashes = append(hashes, name)
		}
	}
	slices.Sort(hashes)
	var bundle []byte
	for _, name := range hashes {
		bundle = append(bundle, wholeLines(d.content(name))...)
	}
	return Store{bundle, d.links}
}

const (
	maxLinks = 8
	maxDepth = 8
)

func (d *directory) target(name string) string { return d.m.Target(d.dir + "/" + name) }

// content is a name's content, with the desired links.
func (d *directory) content(name string) []byte {
	for range maxLinks {
		target, isLink := d.links[name]
		switch {
		case !isLink && d.target(name) != "":
			return nil // it will be removed
		case !isLink:
			return d.m.Content(d.dir + "/" + name)
		case path.IsAbs(target) || strings.Contains(target, "/"):
			if !path.IsAbs(target) {
				target = path.Join(d.dir, target)
			}
			return d.m.Content(target)
		}
		name = target
	}
	return nil
}

// stays reports whether a link stays when the links to the tool's directories, and then the broken ones, are removed.
func (d *directory) stays(name string, spec *resource.TrustStore, links int) bool {
	target := d.target(name)
	switch {
	case target == "":
		return d.m.Content(d.dir+"/"+name) != nil
	case links == 0 || strings.HasPrefix(target, spec.Packages) || strings.HasPrefix(target, spec.Anchors):
		return false
	case strings.Contains(target, "/"):
		return d.m.Content(d.dir+"/"+name) != nil
	}
	return d.stays(target, spec, links-1)
}

// found are the certificate files in a directory and below, also through links.
func found(m Reader, dir string, depth int) (certificates []string) {
	if depth == 0 {
		return nil
	}
	for _, name := range m.Names(dir) {
		at := dir + "/" + name
		if strings.HasSuffix(name, ".crt") && m.Content(at) != nil {
			certificates = append(certificates, at)
		} else {
			certificates = append(certificates, found(m, at, depth-1)...)
		}
	}
	return certificates
}

// linkName is the name of the link to a certificate (update-ca-certificates, add).
func linkName(certificate string) string {
	return strings.NewReplacer(" ", "_", "(", "=", ")", "=", ",", "_").Replace(strings.TrimSuffix(path.Base(certificate), ".crt")) + ".pem"
}

// wholeLines is a text with a line end.
func wholeLines(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return append(bytes.Clone(text), '\n')
	}
	return text
}

// isHash reports whether a name is a hash link's: a hash, with a number for each certificate with that hash.
func isHash(name string) bool {
	hash, number, _ := strings.Cut(name, ".")
	return len(hash) == 8 && strings.Trim(hash, "0123456789abcdef") == "" && number != "" && strings.Trim(number, "0123456789") == ""
}

// entry is a file that is, or will be, the target of a hash link.
type entry struct {
	file string
	// number is its link's number. maxSame means that it has no link.
	number int
	// certificate is the file's only one. It is nil for a file that only a link knows.
	certificate []byte
}

// maxSame is how many certificates may have one hash (OpenSSL: apps/rehash.c, MAX_COLLISIONS).
const maxSame = 256

// rehash adds a hash link for each file with one certificate, in the order of their names, as "openssl rehash" does
// (OpenSSL 3.0: apps/rehash.c, do_dir). A remaining link keeps its number if that is less than the number of
// certificates.
func (d *directory) rehash(names []string) {
	buckets := make(map[string][]*entry)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		target := d.links[name]
		hash, number, _ := strings.Cut(name, ".")
		switch {
		case target != "" && isHash(name):
			n, err := strconv.Atoi(number)
			if err != nil {
				continue
			}
			e := inBucket(buckets, hash, target)
			e.number = min(e.number, n)
		case slices.Contains([]string{".pem", ".crt", ".cer"}, strings.ToLower(path.Ext(name))):
			certificate := onlyCertificate(d.content(name))
			subject, err := subjectHash(certificate)
			if err != nil {
				continue // the file is missing, or the tool cannot read it either
			}
			hash := fmt.Sprintf("%08x", subject)
			if !slices.ContainsFunc(buckets[hash], func(e *entry) bool { return bytes.Equal(e.certificate, certificate) }) {
				inBucket(buckets, hash, name).certificate = certificate
			}
		}
	}
	for hash, entries := range buckets {
		d.number(hash, entries)
	}
}

// inBucket returns the entry of a file among those with a hash.
func inBucket(buckets map[string][]*entry, hash, file string) *entry {
	for _, e := range buckets[hash] {
		if e.file == file {
			return e
		}
	}
	e := &entry{file: file, number: maxSame}
	buckets[hash] = append(buckets[hash], e)
	return e
}

// number creates the links of one hash.
func (d *directory) number(hash string, entries []*entry) {
	needed, taken := 0, make(map[int]bool)
	for _, e := range entries {
		if e.certificate != nil {
			needed++
		}
	}
	for _, e := range entries {
		if e.number < needed {
			taken[e.number] = true
		}
	}
	next := 0
	for _, e := range entries {
		switch {
		case e.number < needed:
		case e.certificate == nil:
			delete(d.links, hash+"."+strconv.Itoa(e.number))
		case next < maxSame:
			for taken[next] {
				next++
			}
			taken[next] = true
			d.links[hash+"."+strconv.Itoa(next)] = e.file
		}
	}
}

// onlyCertificate returns the certificate of a file that has exactly one, or nil.
func onlyCertificate(content []byte) (certificate []byte) {
	for {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			return certificate
		}
		switch block.Type {
		case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE":
			if certificate != nil {
				return nil
			}
			certificate = block.Bytes
		case "X509 CRL":
			return nil
		}
	}
}
