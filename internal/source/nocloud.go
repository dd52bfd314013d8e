package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
)

// The two documents of a NoCloud seed (cloud-init documentation, "NoCloud").
const (
	seedUserData = "user-data"
	seedMetaData = "meta-data"
	seedLabel    = "cidata"
)

// seedDirectories are the possible directories of a seed on the disk, in cloud-init's order.
var seedDirectories = []string{"/var/lib/cloud/seed/nocloud", "/var/lib/cloud/seed/nocloud-net"}

// readSeedDirectory reads a seed on the machine's disk: in a known directory, or in the one that the firmware names.
func readSeedDirectory(_ context.Context, s *Search) (Contract, error) {
	directories := seedDirectories
	if at, ok := s.seed(); ok && (strings.HasPrefix(at, "file://") || strings.HasPrefix(at, "/")) {
		// A directory that the firmware names comes first; one that leads elsewhere is refused below.
		directories = append([]string{path.Clean(strings.TrimPrefix(at, "file://"))}, directories...)
	}
	for _, dir := range directories {
		userData, err := s.read(path.Join(dir, seedUserData), maxUserData)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return Contract{}, err
		}
		metaData, _ := s.Machine.ReadFile(path.Join(dir, seedMetaData), maxUserData)
		return open(path.Join(dir, seedUserData), userData, seedInstance(metaData))
	}
	return Contract{}, errAbsent
}

// readSeedURL reads a seed that the firmware names by URL.
func readSeedURL(ctx context.Context, s *Search) (Contract, error) {
	at, _ := s.seed()
	if s.Fetch == nil {
		return Contract{}, errAbsent
	}
	base, err := url.Parse(at)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return Contract{}, none("the firmware's serial number contains no URL")
	}
	if base.User != nil {
		return Contract{}, errors.New("the seed's URL contains a user name, which every process can read: leave the user name out")
	}
	userData, err := s.Fetch(ctx, at, seedUserData)
	if err != nil {
		return Contract{}, notFound(err)
	}
	// Without it the machine has no name, but works.
	metaData, _ := s.Fetch(ctx, at, seedMetaData)
	return open(base.Redacted(), userData, seedInstance(metaData))
}

// seed is the location of a seed in the firmware: a system serial number "ds=nocloud;s=PLACE".
func (s *Search) seed() (string, bool) {
	rest, ok := strings.CutPrefix(s.Facts.DMI.ProductSerial, "ds=nocloud")
	if !ok {
		return "", false
	}
	for setting := range strings.SplitSeq(rest, ";") {
		for _, key := range []string{"s=", "seedfrom="} {
			if at, ok := strings.CutPrefix(setting, key); ok {
				return at, true
			}
		}
	}
	return "", false
}

// seedInstance is the machine's description in a seed's meta-data. It is empty if that is not a document.
func seedInstance(metaData []byte) facts.Instance {
	var said struct {
		ID            any `yaml:"instance-id"`
		LocalHostname any `yaml:"local-hostname"`
		Hostname      any `yaml:"hostname"`
	}
	if len(metaData) > document.MaxBytes || yaml.Unmarshal(metaData, &said) != nil {
		return facts.Instance{Platform: facts.NoCloud}
	}
	name := cmp.Or(text(said.LocalHostname), text(said.Hostname))
	return facts.Instance{Platform: facts.NoCloud, ID: facts.CleanText(text(said.ID)), Hostname: facts.CleanHostname(name)}
}

// text converts a value that is a string or a number.
func text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case int:
		return fmt.Sprint(value)
	}
	return ""
}
