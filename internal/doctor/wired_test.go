package doctor_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/host"
)

// wired is the healthy machine on the loopback network: its DNS server, its API server and its proxy are programs there,
// and it asks them as a real machine does.
type wired struct {
	*surrounded
	network *host.Machine
	// dns is the DNS server's real HOST:PORT.
	dns string
}

func (m *wired) Exchange(ctx context.Context, server string, message []byte) ([]byte, error) {
	if server != net.JoinHostPort(resolver1, "53") {
		return m.surrounded.Exchange(ctx, server, message)
	}
	return m.network.Exchange(ctx, m.dns, message)
}

func (m *wired) Attempt(ctx context.Context, a *host.Attempt) *host.Outcome {
	if strings.Contains(a.URL, "registry.example") {
		return m.surrounded.Attempt(ctx, a)
	}
	return m.network.Attempt(ctx, a)
}

// dnsServer answers on loopback as the function says; without a message it does not answer.
func dnsServer(t *testing.T, reply func(question dnsmessage.Question) *dnsmessage.Message) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		packet := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			var asked dnsmessage.Message
			if asked.Unpack(packet[:n]) != nil {
				continue
			}
			answer := reply(asked.Questions[0])
			if answer == nil {
				continue
			}
			answer.ID, answer.Response, answer.Questions = asked.ID, true, asked.Questions
			if packed, err := answer.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// code is a DNS server's answer without records.
func code(c dnsmessage.RCode) func(dnsmessage.Question) *dnsmessage.Message {
	return func(dnsmessage.Question) *dnsmessage.Message {
		return &dnsmessage.Message{Header: dnsmessage.Header{RCode: c}}
	}
}

func loopbackAddress(question dnsmessage.Question) *dnsmessage.Message {
	m := &dnsmessage.Message{}
	if question.Type == dnsmessage.TypeA {
		header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, Type: question.Type}
		m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
	}
	return m
}

// onLoopback is the healthy machine with an API server on loopback, which the kubeconfig calls example.com.
func onLoopback(t *testing.T) *wired {
	t.Helper()
	machine, err := host.OpenMachine()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { machine.Close() })
	m := &wired{surrounded: healthy(), network: machine, dns: dnsServer(t, loopbackAddress)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", now.Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		got, has := m.api[r.URL.Path]
		if !has {
			got = answer{http.StatusNotFound, `{"kind":"Status"}`}
		}
		w.WriteHeader(got.status)
		_, _ = io.WriteString(w, got.body)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	m.use(server.Listener.Addr().String(), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	return m
}

// use makes a server on loopback the API server.
func (m *wired) use(at, ca string) {
	_, port, _ := net.SplitHostPort(at)
	m.tree[kubeconfig] = strings.NewReplacer(
		"https://"+apiName, "https://example.com:"+port,
		base64.StdEncoding.EncodeToString([]byte(authority().pem())), base64.StdEncoding.EncodeToString([]byte(ca)),
	).Replace(healthy().tree[kubeconfig])
	m.api[nodePath] = answer{http.StatusOK, marshal(healthyNode())}
}

// listening does something with each connection to a server, and returns its HOST:PORT.
func listening(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go do(conn)
		}
	}()
	return listener.Addr().String()
}

// smallPackets answers plain requests, as a server with TLS does whose large packets are lost.
func smallPackets(conn net.Conn) {
	first := make([]byte, 4096)
	if _, err := conn.Read(first); err != nil || first[0] == 0x16 { // a TLS handshake gets no answer
		saysNothing(conn)
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	conn.Close()
}

// saysNothing keeps a connection until the other side ends it. A connection that no code uses would be closed.
func saysNothing(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn)
	conn.Close()
}

// refusesConnect is a proxy that refuses to connect.
func refusesConnect(conn net.Conn) {
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
	}
	conn.Close()
}

// The same verdicts come from real packets.
func TestIllnessesOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		name  string
		apply func(t *testing.T, m *wired)
		check string
		cause string
	}{
		{"healthy", func(*testing.T, *wired) {}, "", ""},
		{"NXDOMAIN", func(t *testing.T, m *wired) { m.dns = dnsServer(t, code(dnsmessage.RCodeNameError)) }, "names", "unknown-name"},
		{"SERVFAIL", func(t *testing.T, m *wired) { m.dns = dnsServer(t, code(dnsmessage.RCodeServerFailure)) }, "names", "failing"},
		{"REFUSED", func(t *testing.T, m *wired) { m.dns = dnsServer(t, code(dnsmessage.RCodeRefused)) }, "names", "refused"},
		{"no DNS server", func(t *testing.T, m *wired) {
			conn, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			m.dns = conn.LocalAddr().String()
			conn.Close()
		}, "names", "refused"},
		{"a silent DNS server", func(t *testing.T, m *wired) {
			m.dns = dnsServer(t, func(dnsmessage.Question) *dnsmessage.Message { return nil })
		}, "names", "silent"},
		{"another CA", func(_ *testing.T, m *wired) {
			u := strings.SplitN(strings.SplitN(m.tree[kubeconfig], "example.com:", 2)[1], `"`, 2)[0]
			m.use("127.0.0.1:"+u, authority().pem())
		}, "api-server", "other-authority"},
		{"nothing listens", func(t *testing.T, m *wired) {
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			m.use(free.Addr().String(), authority().pem())
			free.Close()
		}, "api-server", "refused"},
		{"large packets are lost", func(t *testing.T, m *wired) { m.use(listening(t, smallPackets), authority().pem()) }, "api-server", "large-packets"},
		{"a handshake without an answer", func(t *testing.T, m *wired) { m.use(listening(t, saysNothing), authority().pem()) }, "api-server", "handshake"},
		{"a proxy that refuses CONNECT", func(t *testing.T, m *wired) {
			proxy := listening(t, refusesConnect)
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			m.use(free.Addr().String(), authority().pem())
			free.Close()
			m.tree["/proc/812/environ"] = "https_proxy=" + proxy + "\x00"
		}, "proxy", "denied"},
		{"401", func(_ *testing.T, m *wired) { m.api[nodePath] = answer{401, "{}"} }, "credential", "refused-certificate"},
		{"an unknown authority's certificate", func(_ *testing.T, m *wired) {
			m.api[nodePath] = answer{403, `{"kind":"Status","message":"nodes \"node1\" is forbidden: User \"system:anonymous\" cannot get resource \"nodes\""}`}
		}, "credential", "refused-certificate"},
		{"404", func(_ *testing.T, m *wired) { delete(m.api, nodePath) }, "node", "missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := onLoopback(t)
			tt.apply(t, m)
			report := doctor.Examine(t.Context(), own(), &doctor.Patient{Machine: m, Now: func() time.Time { return now }})
			var got string
			for _, r := range report.Wrong() {
				got += r.Check + " " + r.Cause + "\n"
			}
			want := ""
			if tt.check != "" {
				want = tt.check + " " + tt.cause + "\n"
			}
			if got != want {
				t.Errorf("got %q, want %q: %+v", got, want, report)
			}
		})
	}
}
