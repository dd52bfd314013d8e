package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/metadata"
)

const (
	// maxDistance is how far a clock may be off: AWS refuses signatures beyond it (AWS General Reference, Signature Version
	// 4), and a new certificate is backdated by as much (k8s.io/kubernetes, pkg/controller/certificates/signer).
	maxDistance = 5 * time.Minute
	// askClock is how long another clock is asked: checks that need the time wait for it.
	askClock = 2 * time.Second
)

// clockChecks are those of the clock.
var clockChecks = []Check{{
	Name: "clock", Asks: "Is the machine's clock right, compared with the API server's and the cloud's?",
	Live: true, Deadline: askClock + time.Second,
	Causes: []Cause{
		{"ahead", "the clock is ahead of the API server's or the cloud's", setClock},
		{"behind", "the clock is behind the API server's or the cloud's, or before the beginning of a certificate on this machine", setClock},
	},
	Look: lookClock,
}}

const setClock = "set the clock: start chrony or systemd-timesyncd, let it reach a time server (UDP port 123; EC2: 169.254.169.123, Azure: /dev/ptp_hyperv), and run `chronyc makestep`, because a running service corrects a large distance only slowly"

// otherClock is another clock at the time of an answer. distance is this machine's clock minus the other.
type otherClock struct {
	of       string
	distance time.Duration
}

func lookClock(ctx context.Context, p *Patient) *Finding {
	f := new(Finding)
	clocks := askClocks(ctx, p, f)
	state, err := p.Machine.ClockState()
	kept := "a program keeps it synchronized"
	switch {
	case err != nil:
		f.with("adjtimex", err.Error())
		kept = "whether a program keeps it synchronized is not known"
	case !state.Synchronized:
		kept = "no program keeps it synchronized"
	}
	f.with("the kernel's state of the clock", fmt.Sprintf("%s, possible error %s", kept, state.MaxError))
	now := stamp(p.Now())
	off := func(c otherClock) bool { return c.distance.Abs() > maxDistance }
	switch {
	case len(clocks) > 0 && !slices.ContainsFunc(clocks, func(c otherClock) bool { return !off(c) }):
		c := clocks[0]
		cause := "ahead"
		if c.distance < 0 {
			cause = "behind"
		}
		return f.wrong(cause, "the clock is %s %s %s's: it shows %s, and %s", roughly(c.distance.Abs()), map[string]string{"ahead": "ahead of", "behind": "behind"}[cause], c.of, now, kept)
	case len(clocks) > 0:
		c := clocks[slices.IndexFunc(clocks, func(c otherClock) bool { return !off(c) })]
		return f.fine("the clock is at most %s from %s's, and %s", ceil(c.distance.Abs()), c.of, kept)
	}
	if path, from := notYet(p); path != "" {
		return f.wrong("behind", "the clock shows %s, and %s begins only at %s; no other clock answers, and %s", now, path, stamp(from), kept)
	}
	return f.fine("the clock shows %s, which no other clock confirms, and %s", now, kept)
}

// ceil rounds a distance up to seconds, which is the precision of the other clocks.
func ceil(d time.Duration) time.Duration { return d.Truncate(time.Second) + time.Second }

// roughly is a duration for people.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%d days", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

// askClocks asks the API server and the cloud, which have the time in their answers' headers. The order of the result is
// fixed.
func askClocks(ctx context.Context, p *Patient, f *Finding) (clocks []otherClock) {
	ctx, cancel := context.WithTimeout(ctx, p.Patience(askClock))
	defer cancel()
	questions := []struct {
		of  string
		ask func() (time.Time, error)
	}{
		{"the API server", func() (time.Time, error) { return serverDate(ctx, p) }},
		{"the metadata service", func() (time.Time, error) {
			if cloud := p.Machine.Platform(); slices.Contains(metadata.Clouds(), cloud) {
				seen, err := p.Machine.AskMetadata(ctx, cloud)
				return seen.Date, err
			}
			return time.Time{}, nil
		}},
		{"the wire server", func() (time.Time, error) {
			if p.Machine.Platform() != facts.Azure {
				return time.Time{}, nil
			}
			seen, err := p.Machine.AskWireServer(ctx)
			return seen.Date, err
		}},
	}
	found := make([]*otherClock, len(questions))
	said := make([]string, len(questions))
	var group sync.WaitGroup
	for i, q := range questions {
		group.Go(func() {
			date, err := q.ask()
			switch {
			case err != nil:
				said[i] = err.Error()
			case !date.IsZero():
				found[i] = &otherClock{q.of, p.Now().Sub(date)}
				said[i] = stamp(date)
			}
		})
	}
	group.Wait()
	for i, q := range questions {
		if found[i] != nil {
			clocks = append(clocks, *found[i])
		}
		if said[i] != "" {
			f.with("time of "+q.of, said[i])
		}
	}
	return clocks
}

// serverDate is the API server's time. Its certificate is not checked: by a wrong clock it may not be valid, and the
// answer serves only to compare the clocks.
func serverDate(ctx context.Context, p *Patient) (time.Time, error) {
	s := p.server()
	if s == nil {
		return time.Time{}, nil
	}
	a := s.attempt(ctx, p, "/version")
	a.Unverified, a.Authority = true, ""
	o := p.Machine.Attempt(ctx, a)
	if o.Failed != "" {
		return time.Time{}, o.Err
	}
	date, err := http.ParseTime(o.Header.Get("Date"))
	if err != nil {
		return time.Time{}, nil // it does not give the time
	}
	return date, nil
}

// notYet is a certificate of this machine that by its clock is not valid yet: the kubelet's, or the CA's of its cluster.
func notYet(p *Patient) (path string, from time.Time) {
	k := p.Kubelet()
	for _, path := range []string{k.Certificates.Value + "/" + currentCertificate, k.Authority.Value, hostClientCA(p)} {
		content, err := p.Machine.ReadLinked(path, kubeletsetup.MaxKubeconfig)
		if err != nil {
			continue
		}
		if c := firstCertificate(content); c != nil && p.Now().Add(time.Minute).Before(c.NotBefore) {
			return path, c.NotBefore
		}
	}
	return "", time.Time{}
}

// hostClientCA is the file of the CA in the kubeconfig.
func hostClientCA(p *Patient) string {
	if s := p.access().server; s != nil {
		return s.AuthorityFile
	}
	return ""
}

// firstCertificate is the first certificate in PEM, or nil.
func firstCertificate(content []byte) *x509.Certificate {
	for {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			return nil
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			return c
		}
	}
}
