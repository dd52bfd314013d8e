package grpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// headers encodes headers as a server may: with its table, and Huffman's code.
func headers(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

// frames are a server's frames after its settings.
func frames(write ...func(*http2.Framer) error) string {
	var b bytes.Buffer
	f := http2.NewFramer(&b, nil)
	f.AllowIllegalWrites = true
	f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
	f.WriteSettingsAck()
	for _, w := range write {
		if err := w(f); err != nil {
			panic(err)
		}
	}
	return b.String()
}

func head(end bool, fields ...string) func(*http2.Framer) error {
	return func(f *http2.Framer) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers(fields...), EndHeaders: true, EndStream: end})
	}
}

func data(content ...byte) func(*http2.Framer) error {
	return func(f *http2.Framer) error { return f.WriteData(1, false, content) }
}

func raw(kind http2.FrameType, flags http2.Flags, stream uint32, payload ...byte) func(*http2.Framer) error {
	return func(f *http2.Framer) error { return f.WriteRawFrame(kind, flags, stream, payload) }
}

var (
	begin   = head(false, ":status", "200", "content-type", "application/grpc")
	message = data(0, 0, 0, 0, 2, 8, 1)
	end     = head(true, "grpc-status", "0")
	refused = []string{":status", "200", "content-type", "application/grpc+proto", "grpc-status", "12", "grpc-message", "no%20method"}
)

// hangsUp, at the end of a text, makes the server close its connection.
const hangsUp = "(hangs up)"

// serve reads a call, writes a text, and reads until the connection ends. It returns the frames that it has read.
func serve(server net.Conn, text string) []string {
	var read []string
	io.ReadFull(server, make([]byte, len(http2.ClientPreface)))
	framer := http2.NewFramer(server, server)
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			return read
		}
		if ping, ok := f.(*http2.PingFrame); ok {
			read = append(read, string(ping.Data[:]))
		}
		read = append(read, f.Header().String())
		if f.Header().Type == http2.FrameData && f.Header().Flags.Has(http2.FlagDataEndStream) {
			go func() {
				text, gone := strings.CutSuffix(text, hangsUp)
				io.WriteString(server, text)
				if gone {
					server.Close()
				}
			}()
		}
	}
}

// calls makes one call to a server that answers with a text, and returns the frames that the server has read.
func calls(t testing.TB, text string) (answer []byte, heard []string, err error) {
	t.Helper()
	client, server := net.Pipe()
	read := make(chan []string, 1)
	go func() { read <- serve(server, text) }()
	c, err := dial(t.Context(), func(context.Context, string, string) (net.Conn, error) { return client, nil })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answer, err = c.Call(ctx, "/x.Y/Z", nil)
	if ctx.Err() != nil {
		t.Errorf("the call does not end: %v", err)
	}
	c.Close()
	client.Close()
	return answer, <-read, err
}

func TestReadAnswers(t *testing.T) {
	whole := headers(refused...)
	padded := append(append([]byte{3, 0, 0, 0, 0, 9}, headers(":status", "200", "content-type", "application/grpc")...), 0, 0, 0)
	const endHeaders, endStream, isPadded = http2.FlagHeadersEndHeaders, http2.FlagHeadersEndStream, http2.FlagHeadersPadded
	for name, test := range map[string]struct{ text, want, wrong string }{
		"plain":          {text: frames(begin, message, end), want: "\x08\x01"},
		"other frames":   {text: frames(raw(0x77, 0, 9, 'x'), raw(http2.FrameWindowUpdate, 0, 0, 0, 0, 1, 0), begin, message, end), want: "\x08\x01"},
		"another stream": {text: frames(begin, raw(http2.FrameRSTStream, 0, 7, 0, 0, 0, 0), message, end), want: "\x08\x01"},
		"padded": {text: frames(raw(http2.FrameHeaders, endHeaders|isPadded|http2.FlagHeadersPriority, 1, padded...),
			raw(http2.FrameData, http2.FlagDataPadded, 1, 2, 0, 0, 0, 0, 0, 0, 0), end), want: ""},
		"in pieces": {text: frames(raw(http2.FrameHeaders, 0, 1, whole[:3]...), raw(http2.FrameContinuation, 0, 1, whole[3:9]...),
			raw(http2.FrameContinuation, endHeaders, 1, whole[9:]...), raw(http2.FrameData, endStream, 1)), wrong: "/x.Y/Z returned gRPC status 12: no method"},
		"headers alone":       {text: frames(head(true, refused...)), wrong: "status 12: no method"},
		"two messages":        {text: frames(begin, message, message, end), wrong: "is damaged"},
		"compressed":          {text: frames(begin, data(1, 0, 0, 0, 0), end), wrong: "is damaged"},
		"no status":           {text: frames(begin, message, head(true, "x", "y")), wrong: "has no gRPC status"},
		"a large message":     {text: frames(begin, data(append([]byte{0, 0, 0, 0x40, 0}, make([]byte, 0x2000)...)...), data(make([]byte, 0x2000)...), end), wrong: "has more than"},
		"another status":      {text: frames(head(true, ":status", "404")), wrong: "is not a gRPC server: HTTP status 404"},
		"a page":              {text: frames(head(true, ":status", "200", "content-type", "text/html")), wrong: "is not a gRPC server"},
		"no headers":          {text: frames(raw(http2.FrameData, endStream, 1)), wrong: "does not answer"},
		"broken off":          {text: frames(begin, raw(http2.FrameRSTStream, 0, 1, 0, 0, 0, 2)), wrong: "does not answer"},
		"ended":               {text: frames(raw(http2.FrameGoAway, 0, 0, make([]byte, 8)...)), wrong: "does not answer"},
		"ended with a reason": {text: frames(raw(http2.FrameGoAway, 0, 0, append(make([]byte, 8), bytes.Repeat([]byte("x"), 1<<13)...)...)), wrong: "does not answer"},
		"pushed":              {text: frames(raw(http2.FramePushPromise, 0, 1, make([]byte, 8)...)), wrong: "does not answer"},
		"a loose end":         {text: frames(raw(http2.FrameContinuation, 0, 1)), wrong: "does not answer"},
		"headers without end": {text: frames(raw(http2.FrameHeaders, 0, 1), raw(http2.FrameSettings, 0, 0)), wrong: "does not answer"},
		"large headers":       {text: frames(head(false, ":status", "200", "x", strings.Repeat("y", 1<<15))), wrong: "does not answer"},
		"bad headers":         {text: frames(raw(http2.FrameHeaders, endHeaders, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)), wrong: "does not answer"},
		"too much padding":    {text: frames(begin, raw(http2.FrameData, http2.FlagDataPadded, 1, 9, 0)), wrong: "does not answer"},
		"a large frame":       {text: "\x40\x00\x01\x00\x00\x00\x00\x00\x01", wrong: "does not answer"},
		"HTTP/1.1":            {text: "HTTP/1.1 400 Bad Request\r\n\r\n", wrong: "looked like an HTTP/1.1 header"},
		"half a frame":        {text: frames(begin)[:30] + hangsUp, wrong: "EOF"},
		"nothing":             {text: hangsUp, wrong: "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, _, err := calls(t, test.text)
			switch {
			case test.wrong == "" && (err != nil || string(answer) != test.want):
				t.Errorf("%q, %v, want %q", answer, err, test.want)
			case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong) || len(err.Error()) > 2*maxShown):
				t.Errorf("%q, %v, want %q", answer, err, test.wrong)
			}
		})
	}
}

// The server's ping is answered, and the agent sends none: grpc-go ends a connection with many.
func TestAnswerPings(t *testing.T) {
	_, heard, err := calls(t, frames(raw(http2.FramePing, 0, 0, []byte("12345678")...), begin, message, end))
	all := strings.Join(heard, " ")
	if err != nil || !strings.Contains(all, "12345678 [FrameHeader PING flags=ACK") || strings.Count(all, "PING") != 1 {
		t.Errorf("%v, %q", err, heard)
	}
}

// A call ends with its context, whatever the server does, and a missing server is an error at once.
func TestCallEndsWithItsContext(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		serve(conn, "")
	}()
	c, err := Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	if _, err := c.Call(ctx, "/x.Y/Z", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with a context that has ended: %v", err)
	}
	listener.Close()
	if _, err := Dial(t.Context(), socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a connection to no server: %v", err)
	}
}

// FuzzAnswers: whatever a server writes, a call ends, and its answer and its error are no larger than they may be.
func FuzzAnswers(f *testing.F) {
	log.SetOutput(io.Discard) // net/http logs unexpected frames
	f.Add(frames(begin, message, end))
	f.Add(frames(head(true, refused...)))
	f.Add("HTTP/1.1 400 Bad Request\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		answer, _, err := calls(t, text+hangsUp)
		if len(answer) > maxMessage || err != nil && len(err.Error()) > 2*maxShown {
			t.Errorf("%d bytes, %v", len(answer), err)
		}
	})
}
