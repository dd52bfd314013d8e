package cri

import (
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// fakeRuntime is a container runtime that has some images, and pulls what its registry provides for a token.
type fakeRuntime struct {
	mu    sync.Mutex
	has   map[string]bool
	token string
}

// texts are a message's text fields, by the path of their numbers: "2.5" is the fifth field of the second.
func texts(message []byte, at string, into map[string]string) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 || kind != protowire.BytesType {
			into["damaged"] = at
			return
		}
		value, m := protowire.ConsumeBytes(message[n:])
		if m < 0 {
			into["damaged"] = at
			return
		}
		message = message[n+m:]
		path := strings.TrimPrefix(at+"."+string(rune('0'+number)), ".")
		if at == "" { // all fields of a request are messages
			texts(value, path, into)
		} else {
			into[path] = string(value)
		}
	}
}

func (f *fakeRuntime) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	said := make(map[string]string)
	if len(body) < 5 || int(binary.BigEndian.Uint32(body[1:])) != len(body)-5 {
		said["damaged"] = "prefix"
	} else {
		texts(body[5:], "", said)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	image, answer, status, message := said["1.1"], []byte(nil), "0", ""
	switch {
	case said["damaged"] != "" || image == "":
		status, message = "3", "damaged at "+said["damaged"]
	case r.URL.Path == statusMethod && f.has[image]:
		answer = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte("\x0a\x01x"))
	case r.URL.Path == statusMethod:
		answer = protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), []byte("\x0a\x01k\x12\x01v")) // info, and no image
	case f.token != "" && (said["2.4"] != "https://registry.example:5443" || said["2.5"] != f.token && (said["2.1"] != "AWS" || said["2.2"] != f.token)):
		status, message = "2", "pull access denied: 401 Unauthorized"
	default:
		f.has[image] = true
	}
	w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(answer))), answer...))
	w.Header().Set("Grpc-Status", status)
	w.Header().Set("Grpc-Message", message)
}

// serve listens at a socket.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return socket
}

func TestImages(t *testing.T) {
	long := "registry.example/" + strings.Repeat("a", 300) + ":1" // its length needs two bytes
	for name, test := range map[string]struct {
		image, token string
		login        *Login
		wrong        string
	}{
		"open":               {image: "registry.example/pause:3.9"},
		"a long name":        {image: long},
		"with a token":       {image: long, token: "secret", login: &Login{Server: "registry.example:5443", RefreshToken: "secret"}},
		"with a password":    {image: long, token: "secret", login: &Login{Server: "registry.example:5443", Username: "AWS", Password: "secret"}},
		"with another one":   {image: long, token: "secret", login: &Login{Server: "registry.example:5443", Username: "AWS", Password: "other"}, wrong: "401 Unauthorized"},
		"without a token":    {image: long, token: "secret", wrong: "401 Unauthorized"},
		"with another":       {image: long, token: "secret", login: &Login{Server: "registry.example:5443", RefreshToken: "other"}, wrong: "401 Unauthorized"},
		"for another":        {image: long, token: "secret", login: &Login{Server: "other.example", RefreshToken: "secret"}, wrong: "401 Unauthorized"},
		"with a large token": {image: long, login: &Login{Server: "registry.example:5443", RefreshToken: strings.Repeat("x", 20<<10)}, wrong: "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			socket := serve(t, &fakeRuntime{has: make(map[string]bool), token: test.token})
			if has, err := HasImage(t.Context(), socket, test.image); has || err != nil {
				t.Fatalf("before: %v, %v", has, err)
			}
			err := PullImage(t.Context(), socket, test.image, test.login)
			if test.wrong == "" && err != nil || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
				t.Errorf("%v, want %q", err, test.wrong)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "xxxx")) {
				t.Errorf("the token is in %v", err)
			}
			if has, err := HasImage(t.Context(), socket, test.image); has != (test.wrong == "") || err != nil {
				t.Errorf("after: %v, %v", has, err)
			}
		})
	}
	if _, err := HasImage(t.Context(), filepath.Join(t.TempDir(), "missing"), "a"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("without a runtime: %v", err)
	}
}
