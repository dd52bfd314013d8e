package plan

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// directive is a line of a Corefile: its words, and the lines of its block.
type directive struct {
	words []string
	block []directive
}

// parseCorefile reads a Corefile (Caddy: caddyfile/lexer.go, of which CoreDNS has a copy; coredns.io/manual/configuration):
// blanks separate words; a quote at a word's beginning holds blanks together; # begins a comment where a word could begin; a
// brace at the end of a line opens a block, and a brace alone on a line ends it. The environment decides a word with {$NAME} or
// {%NAME%}, which Slipway's Corefiles must not have.
func parseCorefile(text string) ([]directive, error) {
	lines := strings.Split(text, "\n")
	at := 0
	var block func(depth int) ([]directive, error)
	block = func(depth int) (all []directive, err error) {
		for at < len(lines) {
			words, err := corefileWords(lines[at])
			at++
			switch {
			case err != nil:
				return nil, fmt.Errorf("line %d: %w", at, err)
			case len(words) == 0:
			case len(words) == 1 && words[0] == "}":
				if depth == 0 {
					return nil, fmt.Errorf("line %d: ends a block that is not open", at)
				}
				return all, nil
			case words[len(words)-1] == "{":
				d := directive{words: words[:len(words)-1]}
				if d.block, err = block(depth + 1); err != nil {
					return nil, err
				}
				all = append(all, d)
			default:
				all = append(all, directive{words: words})
			}
		}
		if depth > 0 {
			return nil, fmt.Errorf("a block is open at the end")
		}
		return all, nil
	}
	return block(0)
}

func corefileWords(line string) (words []string, err error) {
	for {
		line = strings.TrimLeft(line, " \t\r\v\f\u0085\u00a0")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		if quoted, ok := strings.CutPrefix(line, `"`); ok {
			end := strings.Index(quoted, `"`)
			if end < 0 || strings.HasSuffix(quoted[:end], `\`) {
				return nil, fmt.Errorf("%q: a quote that does not end, or is escaped", line)
			}
			words, line = append(words, quoted[:end]), quoted[end+1:]
			continue
		}
		end := strings.IndexAny(line, " \t\r\v\f\u0085\u00a0")
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		if word != "{" && word != "}" && strings.ContainsAny(word, `{}"$%`) {
			return nil, fmt.Errorf("%q: a word that is more than a word", word)
		}
		words, line = append(words, word), line[end:]
	}
}

// find returns the words behind the name of a directive, one for each time that it is there.
func (d directive) find(name string) (found []directive) {
	for _, b := range d.block {
		if b.words[0] == name {
			found = append(found, directive{b.words[1:], b.block})
		}
	}
	return found
}

// line returns the words after a directive that occurs at most once.
func (d directive) line(t *testing.T, name string) string {
	t.Helper()
	found := d.find(name)
	if len(found) > 1 {
		t.Errorf("%s is there %d times", name, len(found))
	}
	if len(found) == 0 {
		return ""
	}
	return strings.TrimSpace(name + " " + strings.Join(found[0].words, " "))
}

// serverBlock holds the settings of a server block, with the contract's names.
type serverBlock struct {
	Bind, Log, Upstream, Protocol, Policy, MaxConcurrent, HealthCheck, FailFast, Cache, Stale, StalePolicy string
	Hosts                                                                                                  bool
}

func blockOf(t *testing.T, server directive) serverBlock {
	t.Helper()
	s := serverBlock{Bind: server.line(t, "bind"), Log: server.line(t, "errors") + server.line(t, "log"), Hosts: len(server.find("hosts")) == 1}
	for _, forward := range server.find("forward") {
		s.Upstream = strings.Join(forward.words, " ")
		s.Protocol, s.Policy, s.MaxConcurrent = forward.line(t, "force_tcp")+forward.line(t, "prefer_udp"), forward.line(t, "policy"), forward.line(t, "max_concurrent")
		s.HealthCheck, s.FailFast = forward.line(t, "health_check"), forward.line(t, "failfast_all_unhealthy_upstreams")
	}
	for _, cache := range server.find("cache") {
		s.Cache = strings.Join(cache.words, " ")
		s.Stale, s.StalePolicy = cache.line(t, "serve_stale"), cache.line(t, "serve_stale_policy")
	}
	return s
}

// blockFor returns the expected server block for a zone of the contract.
func blockFor(domain string, zone nodeconfig.LocalDNSZone, isHost, withHosts bool, cluster string) serverBlock {
	s := serverBlock{
		Bind: "bind 169.254.10.11", Upstream: ". 168.63.129.16", Policy: "policy sequential",
		Log: map[string]string{"Error": "errors", "Log": "log"}[zone.QueryLogging], Hosts: withHosts && domain == ".",
		Cache: strconv.Itoa(int(*cmp.Or(zone.CacheSeconds, new(int32(3600))))),
	}
	if isHost {
		s.Bind = "bind 169.254.10.10"
	}
	toCluster := zone.ForwardTo == "ClusterCoreDNS" || strings.HasSuffix(domain, "cluster.local")
	if toCluster && !(isHost && domain == ".") {
		s.Upstream = ". " + cluster
	}
	s.Protocol = map[string]string{"ForceTCP": "force_tcp", "PreferUDP": "prefer_udp"}[zone.Protocol]
	if zone.ForwardPolicy == "RoundRobin" {
		s.Policy = "policy round_robin"
	} else if zone.ForwardPolicy == "Random" {
		s.Policy = "policy random"
	}
	if zone.MaxConcurrent != nil {
		s.MaxConcurrent = fmt.Sprint("max_concurrent ", *zone.MaxConcurrent)
	}
	if check := zone.HealthCheck; check.Interval > 0 {
		s.HealthCheck = "health_check " + check.Interval.String()
		if *check.NoRecursion {
			s.HealthCheck += " no_rec"
		}
		if check.Domain != "" {
			s.HealthCheck += " domain " + check.Domain
		}
	}
	if *zone.FailFast {
		s.FailFast = "failfast_all_unhealthy_upstreams"
	}
	if word := map[string]string{"Verify": " verify", "Immediate": " immediate"}[zone.ServeStale]; word != "" {
		s.Stale = fmt.Sprintf("serve_stale %ds%s", *cmp.Or(zone.StaleSeconds, new(int32(3600))), word)
		if domain == "." && zone.ServeStalePolicy == "PreferPositive" {
			s.StalePolicy = "serve_stale_policy prefer_positive"
		}
	}
	return s
}

// FuzzCorefile checks that the Corefile has a server block with the same settings for every domain of a contract, and nothing
// else.
func FuzzCorefile(f *testing.F) {
	f.Add("cluster.local", "health.local.", "Log", "ForceTCP", "ClusterCoreDNS", "Random", "Verify", "PreferPositive", "10.2.0.10", int32(1000), int32(60), int32(5), int64(time.Minute), true)
	f.Add(".", "", "Error", "PreferUDP", "VnetDNS", "RoundRobin", "Immediate", "", "fd00::10", int32(0), int32(-1), int32(0), int64(0), false)
	for _, hostile := range []string{"a {\n}\n.", "{$HOME}", "{%HOME%}", `"a b"`, "a#b", "# a", "import /etc/passwd", "a:53", "dns://a", "a\u00a0b", "(snippet)", "a\\", "a,b", "\"", "}", "*"} {
		f.Add(hostile, hostile, hostile, hostile, hostile, hostile, hostile, hostile, hostile, int32(-1), int32(0), int32(-7), int64(1), true)
	}
	f.Fuzz(func(t *testing.T, domain, asked, logging, protocol, to, policy, stale, stalePolicy, cluster string, concurrent, cache, staleSeconds int32, interval int64, yes bool) {
		if interval < 0 {
			return // no document has one: decoding refuses it
		}
		zone := nodeconfig.LocalDNSZone{
			QueryLogging: logging, Protocol: protocol, ForwardTo: to, ForwardPolicy: policy, ServeStale: stale, ServeStalePolicy: stalePolicy,
			MaxConcurrent: &concurrent, CacheSeconds: &cache, StaleSeconds: &staleSeconds, FailFast: &yes,
			HealthCheck: &nodeconfig.LocalDNSHealthCheck{Interval: nodeconfig.Duration(interval), NoRecursion: &yes, Domain: asked},
		}
		other := zone
		other.HealthCheck = new(*zone.HealthCheck)
		c := &nodeconfig.NodeConfig{}
		c.Cluster.DNSServiceIPs = []string{cluster}
		c.Network.LocalDNS = &nodeconfig.LocalDNS{Host: map[string]nodeconfig.LocalDNSZone{domain: zone}, Pods: map[string]nodeconfig.LocalDNSZone{domain: other}}
		nodeconfig.Default(c)
		nodeconfig.Repair(c)
		server := "10.0.0.10"
		if ips := c.Cluster.DNSServiceIPs; len(ips) > 0 {
			server = ips[0]
		}
		for _, withHosts := range []bool{false, true} {
			text := string(dnscache.Corefile(c, withHosts))
			servers, err := parseCorefile(text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			dns := c.Network.LocalDNS
			if want := 1 + len(dns.Host) + len(dns.Pods); len(servers) != want || servers[0].words[0] != "health-check.localdns.local:53" {
				t.Fatalf("%d server blocks, want %d\n%s", len(servers), want, text)
			}
			for i, zones := range []map[string]nodeconfig.LocalDNSZone{dns.Host, dns.Pods} {
				for name, zone := range zones {
					block := servers[len(servers)-1]
					if i == 0 {
						block = servers[1]
					}
					if want := []string{name + ":53"}; !reflect.DeepEqual(block.words, want) {
						t.Errorf("the block is for %q, want %q", block.words, want)
					}
					if got, want := blockOf(t, block), blockFor(name, zone, i == 0, withHosts, server); got != want {
						t.Errorf("got  %+v\nwant %+v\n%s", got, want, text)
					}
				}
			}
		}
	})
}
