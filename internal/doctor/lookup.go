package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/internal/dnsanswer"
	"github.com/slipway-dev/slipway/internal/parallel"
	"github.com/slipway-dev/slipway/internal/plan/concern"
)

const (
	resolvFile   = "/etc/resolv.conf"
	resolvedFile = concern.ResolvedList
	hostsFile    = "/etc/hosts"
	maxResolv    = 64 << 10
	maxHosts     = 1 << 20
	// maxServers limits the DNS servers that are asked, and maxNames the names that the search list makes of one.
	maxServers = 8
	maxNames   = 6
)

// stubs are systemd-resolved's own addresses (systemd-resolved.service(8)).
var stubs = []string{"127.0.0.53", "127.0.0.54"}

// resolver are the settings in a file of the form of resolv.conf(5).
type resolver struct {
	servers, search []string
	dots            int // a name with fewer dots is first tried with the search list
}

func resolvConf(files Files, path string) resolver {
	content, err := files.ReadLinked(path, maxResolv)
	if err != nil {
		return resolver{dots: 1}
	}
	return parseResolvConf(string(content))
}

func parseResolvConf(text string) resolver {
	r := resolver{dots: 1}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "nameserver":
			if _, err := netip.ParseAddr(words[1]); err == nil && len(r.servers) < maxServers && !slices.Contains(r.servers, words[1]) {
				r.servers = append(r.servers, words[1])
			}
		case "search", "domain":
			r.search = words[1:min(len(words), maxNames)]
		case "options":
			for _, option := range words[1:] {
				if n, is := strings.CutPrefix(option, "ndots:"); is {
					_, _ = fmt.Sscanf(n, "%2d", &r.dots)
				}
			}
		}
	}
	return r
}

// names are those that a name is tried as, in order.
func (r *resolver) names(name string) (all []string) {
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

// lookups are the lookups of names, each made once.
type lookups struct {
	mu  sync.Mutex
	all map[string]chan struct{}
	got map[string]*lookup
}

// lookup is how a name was looked up.
type lookup struct {
	name      string
	found     bool
	addresses []netip.Addr
	from      string
	problem   string
	// asked are the DNS servers in resolv.conf. If that is systemd-resolved alone, stub is set, and upstream are its servers.
	asked, upstream []reply
	stub            bool
}

// lookUp looks a name up as the machine's programs do, once for all checks, for at most namePatience. It returns nil if
// ctx is done before.
func (p *Patient) lookUp(ctx context.Context, name string) *lookup {
	n := &p.known.names
	n.mu.Lock()
	if n.all == nil {
		n.all, n.got = make(map[string]chan struct{}), make(map[string]*lookup)
	}
	done, started := n.all[name]
	if !started {
		done = make(chan struct{})
		n.all[name] = done
		go func() {
			// It outlasts the check that began it, because other checks wait for it, too.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.Patience(namePatience))
			defer cancel()
			l := newLookup(ctx, p.Machine, name)
			n.mu.Lock()
			n.got[name] = l
			n.mu.Unlock()
			close(done)
		}()
	}
	n.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.got[name]
}

func newLookup(ctx context.Context, m Machine, name string) *lookup {
	l := &lookup{name: name}
	if l.addresses = hostsAddresses(m, name); len(l.addresses) > 0 {
		l.found, l.from = true, hostsFile
		return l
	}
	conf := resolvConf(m, resolvFile)
	if len(conf.servers) == 0 {
		l.problem = resolvFile + " names no DNS server"
		return l
	}
	l.stub = !slices.ContainsFunc(conf.servers, func(server string) bool { return !slices.Contains(stubs, server) })
	for i, full := range conf.names(name) {
		replies := askAll(ctx, m, conf.servers, full)
		if i == 0 {
			l.asked = replies
		}
		for _, r := range replies {
			if r.found() {
				l.found, l.addresses, l.from, l.asked = true, r.addresses(), "resolver "+r.server, replies
				return l
			}
			if r.decides() {
				break // programs ask no further server
			}
		}
	}
	if l.stub {
		l.upstream = askAll(ctx, m, resolvConf(m, resolvedFile).servers, conf.names(name)[0])
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

// reply is one DNS server's answer to both questions for a name.
type reply struct {
	server string
	v4, v6 single
}

// single is the answer to one question.
type single struct {
	code      dnsmessage.RCode
	addresses []string
	err       error
	took      time.Duration
}

// askAll asks each server for the addresses of a name.
func askAll(ctx context.Context, m Machine, servers []string, name string) []reply {
	replies := make([]reply, len(servers))
	parallel.Each(2*len(servers), 2*maxServers, func(i int) {
		r := &replies[i/2]
		if i%2 == 0 {
			r.server = servers[i/2]
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
	again := time.NewTimer(namePatience * 2 / 5)
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

func (r *reply) found() bool { return len(r.v4.addresses)+len(r.v6.addresses) > 0 }

func (r *reply) addresses() (all []netip.Addr) {
	for _, text := range slices.Concat(r.v4.addresses, r.v6.addresses) {
		if a, err := netip.ParseAddr(text); err == nil {
			all = append(all, a)
		}
	}
	return all
}

// decides reports whether a program that gets this answer asks no other server: after a failure it does (resolv.conf(5);
// Go: net, tryOneName).
func (r *reply) decides() bool {
	for _, s := range []*single{&r.v4, &r.v6} {
		if s.err == nil && (s.code == dnsmessage.RCodeSuccess || s.code == dnsmessage.RCodeNameError) {
			return true
		}
	}
	return false
}

// cause is the cause of a failed lookup by this answer.
func (r *reply) cause() string {
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
func (r *reply) better() *single {
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
		return "cannot be asked: " + reason(s.err)
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

func (r *reply) says() string { return r.v4.says() }

// sentence describes both answers.
func (r *reply) sentence(name string) string {
	four, six := r.v4.says(), r.v6.says()
	if four == six {
		six = "the same"
	}
	if r.v4.err != nil {
		return fmt.Sprintf("%s (asked for %s; AAAA: %s)", four, name, six)
	}
	return fmt.Sprintf("%s for %s (AAAA: %s)", four, name, six)
}

func (r *reply) detail() string {
	return fmt.Sprintf("A: %s after %s; AAAA: %s after %s", r.v4.says(), r.v4.took.Round(time.Millisecond), r.v6.says(), r.v6.took.Round(time.Millisecond))
}
