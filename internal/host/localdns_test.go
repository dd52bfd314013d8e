package host

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// An answer with another ID is ignored.
func TestExchange(t *testing.T) {
	server, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	defer server.Close()
	ids := make(chan [2]byte, 2)
	go func() {
		buffer := make([]byte, 512)
		for {
			n, from, err := server.ReadFromUDP(buffer)
			if err != nil {
				return
			}
			ids <- [2]byte(buffer)
			if string(buffer[2:n]) != "question" {
				continue
			}
			server.WriteToUDP([]byte{buffer[0] + 1, buffer[1], 'x'}, from)
			server.WriteToUDP([]byte{1}, from)
			server.WriteToUDP([]byte{buffer[0], buffer[1], 'y'}, from)
		}
	}()
	m, address := &Machine{}, server.LocalAddr().String()
	asked := []byte("\x00\x00question")
	answer, err := m.Exchange(t.Context(), address, asked)
	if err != nil || string(answer[2:]) != "y" || asked[0] != 0 || asked[1] != 0 {
		t.Errorf("got %q, %v", answer, err)
	}
	<-ids
	// Without an answer, Exchange ends with its context.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-ids
		cancel()
	}()
	if _, err := m.Exchange(ctx, address, []byte("\x00\x00other")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := m.Exchange(t.Context(), "", []byte{1}); err == nil {
		t.Error("a message without an ID is sent")
	}
}

func TestFetch(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ready":
			w.Write([]byte("OK"))
		case "/moved":
			http.Redirect(w, r, "/ready", http.StatusFound)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	m := &Machine{}
	if text, err := m.Fetch(t.Context(), server.URL+"/ready"); text != "OK" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	_, err := m.Fetch(t.Context(), server.URL+"/moved")
	wantError(t, err, "status 302")
	_, err = m.Fetch(t.Context(), server.URL+"/other")
	wantError(t, err, "status 503")
	if _, err := m.Fetch(t.Context(), "://"); err == nil {
		t.Error("no URL is fetched")
	}
}
