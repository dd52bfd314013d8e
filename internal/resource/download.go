package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/place"
)

// Downloads is the directory of downloaded components. Each has a subdirectory for each source, so that an earlier
// plan's component still exists.
const Downloads = place.Downloads

// Download is a component of a node that its image does not have at its usual path: a package in the image that is not
// unpacked, or a file on a server. It is brought to its store before anything of the plan is compared or changed; the
// plan's links and copies refer to it there. An existing store is not downloaded again.
type Download struct {
	// Component is its name, unique in a plan: "kubelet".
	Component string `json:"component"`
	// Version is the component's version. Empty means unknown.
	Version string `json:"version,omitempty"`
	// From are its sources, in the order of trying: an absolute path on the machine, an http or https URL, or a
	// reference to an artifact of an OCI registry.
	From []string `json:"from"`
	// SHA256 is the hexadecimal digest of the source file. Empty means unknown.
	SHA256 string `json:"sha256,omitempty"`
	// OSVersion selects from a registry's artifact, such as "ubuntu 24.04". Empty means any.
	OSVersion string `json:"osVersion,omitempty"`
	// Files are the files to unpack.
	Files []Unpacked `json:"files"`
	// Reach is how to reach its servers.
	Reach Reach `json:"reach,omitzero"`
	// ExitCodes are the provisioning's exit codes by cause; the resource's ExitCode is for every other cause.
	ExitCodes map[Cause]int `json:"exitCodes,omitempty"`
}

// Unpacked is a file to unpack from a component.
type Unpacked struct {
	// Name is its name in the store.
	Name string `json:"name"`
	// Members are patterns (path.Match) of its path in the archive, which differs between packages. If the download is
	// not an archive, it is the file itself.
	Members []string `json:"members"`
	// Optional reports that the archive may lack it.
	Optional bool `json:"optional,omitempty"`
}

// Kind implements Spec.
func (*Download) Kind() string { return "Download" }

// Name implements Spec.
func (d *Download) Name() string { return d.Component }

// Paths implements Spec: the store is in Slipway's directory.
func (*Download) Paths() []string { return nil }

// Store is the component's directory. Its name depends on all that determines its content: another source or version
// has another store.
func (d *Download) Store() string {
	document, err := json.Marshal(struct {
		Version, SHA256, OSVersion string
		From                       []string
		Files                      []Unpacked
	}{d.Version, d.SHA256, d.OSVersion, d.From, d.Files})
	if err != nil { // impossible for strings
		panic(err)
	}
	sum := sha256.Sum256(document)
	return Downloads + "/" + d.Component + "-" + hex.EncodeToString(sum[:])[:storeKey]
}

// storeKey is the length of the part of a store's name that depends on its content.
const storeKey = 12

// IsStoreKey reports whether a text can be the end of a store's name.
func IsStoreKey(text string) bool {
	return len(text) == storeKey && strings.Trim(text, "0123456789abcdef") == ""
}

// StoreOf splits the path of a file in a store into the component and the file's name. It reports whether it is such a
// path.
func StoreOf(name string) (component, file string, ok bool) {
	dir, file := path.Split(name)
	store := path.Base(dir)
	if len(store) <= storeKey || path.Join(Downloads, store, file) != name || !IsStoreKey(store[len(store)-storeKey:]) {
		return "", "", false
	}
	component, ok = strings.CutSuffix(store[:len(store)-storeKey], "-")
	return component, file, ok && PlainName(component) && PlainName(file)
}

// OriginFile is the last file that is written to a store: if it exists, the store is complete.
const OriginFile = "origin.json"

// Path is the path of one of its files.
func (d *Download) Path(name string) string { return d.Store() + "/" + name }

// Valid implements Spec.
func (d *Download) Valid() error {
	errs := []error{named(d)}
	if !PlainName(d.Component) {
		errs = append(errs, fmt.Errorf("download %q: is no name of a component", d.Component))
	}
	if len(d.From) == 0 || len(d.Files) == 0 {
		errs = append(errs, fmt.Errorf("download %q: has no place that it is brought from, or no file", d.Component))
	}
	if sum, err := hex.DecodeString(d.SHA256); d.SHA256 != "" && (err != nil || len(sum) != sha256.Size) {
		errs = append(errs, fmt.Errorf("download %q: the digest is no SHA-256 in hexadecimal", d.Component))
	}
	for _, from := range d.From {
		if strings.HasPrefix(from, "/") {
			errs = append(errs, checkPath(from))
		} else if u, err := url.Parse(from); err == nil && u.Scheme == "http" && d.SHA256 == "" {
			errs = append(errs, fmt.Errorf("download %q: what comes by http needs a digest", d.Component))
		}
	}
	for _, file := range d.Files {
		bad := func(pattern string) bool {
			_, err := path.Match(pattern, "")
			return err != nil || pattern == ""
		}
		if len(file.Members) == 0 || slices.ContainsFunc(file.Members, bad) || !PlainName(file.Name) || file.Name == "part" || file.Name == OriginFile {
			errs = append(errs, fmt.Errorf("download %q: file %q: want a name, and patterns of a path", d.Component, file.Name))
		}
	}
	return errors.Join(errs...)
}

// PlainName reports whether a name is a plain file name.
func PlainName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// Describe implements Spec.
func (d *Download) Describe() Description {
	what := "from " + strings.Join(d.From, ", or ")
	if d.SHA256 != "" {
		what += ", sha256 " + d.SHA256
	}
	return Description{Title: strings.TrimSpace(d.Component + " " + d.Version), What: what}
}

func (d *Download) kept() *Download { return d.by(d.Reach.Kept()) }

func (d *Download) anonymous() *Download { return d.by(d.Reach.Anonymous()) }

func (d *Download) by(way Reach) *Download {
	changed := *d
	changed.Reach = way
	return &changed
}
