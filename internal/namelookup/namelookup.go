// Package namelookup looks a name up as the programs of a machine do, and keeps how: the file of hosts, each DNS server by
// itself, both types of addresses, the search list, and what is behind systemd-resolved. So a failed lookup names the
// server with its answer. It changes nothing. internal/doctor calls it.
package namelookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/internal/dnsanswer"
	"github.com/slipway-dev/slipway/internal/parallel"
	"github.com/slipway-dev/slipway/internal/plan/concern"
)

// Patience is how long a DNS server may take, as in other programs (resolv.conf(5), timeout).
const Patience = 5 * time.Second

const (
	ResolvFile   = "/etc/resolv.conf"
	ResolvedFile = concern.ResolvedList
	hostsFile    = "/etc/hosts"
	maxResolv    = 64 << 10
	maxHosts     = 1 << 20
	// MaxServers limits the DNS servers that are asked, and maxNames the names that the search list makes of one.
	MaxServers = 8
	maxNames   = 6
	// maxDots is the largest ndots (resolv.conf(5): a larger one counts as this).
	maxDots = 15
)

// Machine is what is asked.
type Machine interface {
	Files
	// Exchange sends a DNS message by UDP to the server at HOST:PORT, and returns the server's message.
	Exchange(ctx context.Context, server string, message []byte) ([]byte, error)
}

// Files are the machine's files.
type Files interface {
	ReadLinked(path string, limit int64) ([]byte, error)
}

// stubs are systemd-resolved's own addresses (systemd-resolved.service(8)).
var stubs = []string{"127.0.0.53", "127.0.0.54"}

// Resolver are the settings in a file of the form of resolv.conf(5).
type Resolver struct {
	Servers, search []string
	dots            int // a name with fewer dots is first tried with the search list
}

func ReadResolver(files Files, path string) Resolver {
	content, err := files.ReadLinked(path, maxResolv)
	if err != nil {
		return Resolver{dots: 1}
	}
	return parseResolvConf(string(content))
}

func parseResolvConf(text string) Resolver {
	r := Resolver{dots: 1}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "nameserver":
			if _, err := netip.ParseAddr(words[1]); err == nil && len(r.Servers) < MaxServers && !slices.Contains(r.Servers, words[1]) {
				r.Servers = append(r.Servers, words[1])
			}
		case "search", "domain":
			r.search = words[1:min(len(words), maxNames)]
		case "options":
			for _, option := range words[1:] {
				n, _ := strings.CutPrefix(option, "ndots:")
				if dots, err := strconv.Atoi(n); err == nil && dots >= 0 {
					r.dots = min(dots, maxDots)
				}
			}
		}
	}
	return r
}

// names are those that a name is tried as, in order.
func (r *Resolver) names(name string) (all []string) {
	if strings.HasSuffix(name, ".") {
		return []string{name}
	}
	for _, domain := range r.search {
		if domain = strings.Trim(domain, "."); domain != "" {
			all = append(all, name+"."+domain)
		}
	}
	if strings.Count(name, ".") >= r.dots {
		return append([]string{name}, all...)
	}
	return append(all, name)
}

// Lookup is how a name was looked up.
type Lookup struct {
	Name string
	// Found reports whether the name has addresses, and From is what has them.
	Found     bool
	Addresses []netip.Addr
	From      string
	// Problem is why no server was asked.
	Problem string
	// Asked are the DNS servers in resolv.conf. If that is systemd-resolved alone, Stub is set, and Upstream are its servers.
	Asked, Upstream []Reply
	Stub            bool
}

// New looks a name up, until ctx is done.
func New(ctx context.Context, m Machine, name string) *Lookup {
	l := &Lookup{Name: name}
	if l.Addresses = hostsAddresses(m, name); len(l.Addresses) > 0 {
		l.Found, l.From = true, hostsFile
		return l
	}
	conf := ReadResolver(m, ResolvFile)
	if len(conf.Servers) == 0 {
		l.Problem = ResolvFile + " names no DNS server"
		return l
	}
	l.Stub = !slices.ContainsFunc(conf.Servers, func(server string) bool { return !slices.Contains(stubs, server) })
	for i, full := range conf.names(name) {
		replies := AskAll(ctx, m, conf.Servers, full)
		if i == 0 {
			l.Asked = replies
		}
		for _, r := range replies {
			if r.Found() {
				l.Found, l.Addresses, l.From, l.Asked = true, r.Addresses(), "resolver "+r.Server, replies
				return l
			}
			if r.Decides() {
				break // programs ask no further server
			}
		}
	}
	if l.Stub {
		l.Upstream = AskAll(ctx, m, ReadResolver(m, ResolvedFile).Servers, conf.names(name)[0])
	}
	return l
}

// hostsAddresses are a name's addresses in the file of hosts (hosts(5)).
func hostsAddresses(files Files, name string) []netip.Addr {
	content, err := files.ReadLinked(hostsFile, maxHosts)
	if err != nil {
		return nil
	}
	return parseHosts(string(content), name)
}

func parseHosts(text, name string) (all []netip.Addr) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		address, err := netip.ParseAddr(words[0])
		if err == nil && slices.ContainsFunc(words[1:], func(w string) bool { return strings.EqualFold(w, strings.TrimSuffix(name, ".")) }) {
			all = append(all, address.Unmap())
		}
	}
	return all
}

// Reply is one DNS server's answer to both questions for a name.
type Reply struct {
	Server string
	v4, v6 single
}

// single is the answer to one question.
type single struct {
	code      dnsmessage.RCode
	addresses []string
	err       error
	took      time.Duration
}

// AskAll asks each server for the addresses of a name.
func AskAll(ctx context.Context, m Machine, servers []string, name string) []Reply {
	replies := make([]Reply, len(servers))
	parallel.Each(2*len(servers), 2*MaxServers, func(i int) {
		r := &replies[i/2]
		if i%2 == 0 {
			r.Server = servers[i/2]
			r.v4 = askOne(ctx, m, servers[i/2], name, dnsmessage.TypeA)
		} else {
			r.v6 = askOne(ctx, m, servers[i/2], name, dnsmessage.TypeAAAA)
		}
	})
	return replies
}

// askOne asks a question, and a second time if the first packet may be lost.
func askOne(ctx context.Context, m Machine, server, name string, kind dnsmessage.Type) single {
	question := dnsanswer.Query(name, kind)
	if question == nil {
		return single{err: errors.New("is not asked: this is no domain name")}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin := time.Now()
	first := make(chan single, 2)
	ask := func() {
		var s single
		message, err := m.Exchange(ctx, net.JoinHostPort(server, "53"), question)
		if err == nil {
			var got dnsanswer.Answer
			got, err = dnsanswer.Parse(name, kind, message)
			s.code, s.addresses = got.Code, got.Addresses
		}
		s.err, s.took = err, time.Since(begin)
		first <- s
	}
	go ask()
	again := time.NewTimer(Patience * 2 / 5)
	defer again.Stop()
	for {
		select {
		case s := <-first:
			return s
		case <-again.C:
			go ask()
		}
	}
}

func (r *Reply) Found() bool { return len(r.v4.addresses)+len(r.v6.addresses) > 0 }

func (r *Reply) Addresses() (all []netip.Addr) {
	for _, text := range slices.Concat(r.v4.addresses, r.v6.addresses) {
		if a, err := netip.ParseAddr(text); err == nil {
			all = append(all, a)
		}
	}
	return all
}

// decides reports whether a program that gets this answer asks no other server: after a failure it does (resolv.conf(5);
// Go: net, tryOneName).
func (r *Reply) Decides() bool {
	for _, s := range []*single{&r.v4, &r.v6} {
		if s.err == nil && (s.code == dnsmessage.RCodeSuccess || s.code == dnsmessage.RCodeNameError) {
			return true
		}
	}
	return false
}

// cause is the cause of a failed lookup by this answer.
func (r *Reply) Cause() string {
	switch s := cmp.Or(r.better(), &r.v4); {
	case errors.Is(s.err, syscall.ECONNREFUSED):
		return "refused"
	case s.err != nil:
		return "silent"
	case s.code == dnsmessage.RCodeNameError:
		return "unknown-name"
	case s.code == dnsmessage.RCodeRefused:
		return "refused"
	case s.code == dnsmessage.RCodeSuccess:
		return "no-address"
	}
	return "failing"
}

// better is the answer that tells more, if the other one is a failure.
func (r *Reply) better() *single {
	if r.v4.err != nil && r.v6.err == nil {
		return &r.v6
	}
	return nil
}

// codes are the answers' names (IANA, DNS parameters).
var codes = map[dnsmessage.RCode]string{
	dnsmessage.RCodeFormatError: "FORMERR", dnsmessage.RCodeServerFailure: "SERVFAIL", dnsmessage.RCodeNameError: "NXDOMAIN",
	dnsmessage.RCodeNotImplemented: "NOTIMP", dnsmessage.RCodeRefused: "REFUSED",
}

// says describes an answer: "answers NXDOMAIN".
func (s *single) says() string {
	switch {
	case errors.Is(s.err, syscall.ECONNREFUSED):
		return "refuses the packet: no DNS server listens there"
	case errors.Is(s.err, context.DeadlineExceeded), errors.Is(s.err, context.Canceled):
		return "does not answer"
	case s.err != nil:
		return "cannot be asked: " + Reason(s.err)
	case len(s.addresses) > 0:
		return "answers " + strings.Join(s.addresses, ", ")
	case s.code == dnsmessage.RCodeSuccess:
		return "answers without an address"
	}
	if name := codes[s.code]; name != "" {
		return "answers " + name
	}
	return fmt.Sprintf("answers with code %d", s.code)
}

func (r *Reply) Says() string { return r.v4.says() }

// sentence describes both answers.
func (r *Reply) Sentence(name string) string {
	four, six := r.v4.says(), r.v6.says()
	if four == six {
		six = "the same"
	}
	if r.v4.err != nil {
		return fmt.Sprintf("%s (asked for %s; AAAA: %s)", four, name, six)
	}
	return fmt.Sprintf("%s for %s (AAAA: %s)", four, name, six)
}

func (r *Reply) Detail() string {
	return fmt.Sprintf("A: %s after %s; AAAA: %s after %s", r.v4.says(), r.v4.took.Round(time.Millisecond), r.v6.says(), r.v6.took.Round(time.Millisecond))
}

// Reason is the innermost error that has a text: a verdict names the rest itself.
func Reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil || strings.TrimSpace(inner.Error()) == "" {
			return err.Error()
		}
		err = inner
	}
}
