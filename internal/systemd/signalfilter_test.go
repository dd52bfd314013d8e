package systemd_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/iotest"

	"github.com/godbus/dbus/v5"

	"github.com/slipway-dev/slipway/internal/systemd"
)

// stream is a connection that has something to be read.
type stream struct {
	net.Conn
	io.Reader
}

func (s stream) Read(data []byte) (int, error) { return s.Reader.Read(data) }

// encoded is a message as it is sent.
func encoded(t testing.TB, kind dbus.Type, member string, order binary.ByteOrder, body ...any) []byte {
	t.Helper()
	headers := map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath:      dbus.MakeVariant(dbus.ObjectPath(systemd.ManagerObject)),
		dbus.FieldInterface: dbus.MakeVariant(systemd.ManagerInterface),
		dbus.FieldMember:    dbus.MakeVariant(member),
	}
	if kind == dbus.TypeMethodReply {
		headers = map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(uint32(7))}
	}
	if len(body) > 0 {
		headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	}
	var out bytes.Buffer
	message := dbus.Message{Type: kind, Headers: headers, Body: body}
	if err := message.EncodeTo(&out, order); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Of the signals only those of jobs pass, of any size and in any pieces. Everything else passes unchanged.
func TestHeard(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		reply := encoded(t, dbus.TypeMethodReply, "", order, "an answer")
		job := encoded(t, dbus.TypeSignal, "JobRemoved", order, uint32(1), dbus.ObjectPath("/job/1"), "a.service", "done")
		small := encoded(t, dbus.TypeSignal, "UnitNew", order, "a.service", dbus.ObjectPath("/a"))
		large := encoded(t, dbus.TypeSignal, "PropertiesChanged", order, string(bytes.Repeat([]byte("JobRemoved "), 10_000)))
		long := encoded(t, dbus.TypeMethodReply, "", order, string(bytes.Repeat([]byte("x"), 100_000)))
		greeting := []byte("REJECTED EXTERNAL\r\nOK 0123\r\n")
		in := bytes.Join([][]byte{greeting, small, reply, large, small, job, large, long, small, reply, small}, nil)
		want := bytes.Join([][]byte{greeting, reply, job, long, reply}, nil)
		for name, reader := range map[string]io.Reader{
			"at once": bytes.NewReader(in), "byte by byte": iotest.OneByteReader(bytes.NewReader(in)), "in halves": iotest.HalfReader(bytes.NewReader(in)),
		} {
			got, err := io.ReadAll(systemd.NewSignalFilter(stream{Reader: reader}))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %v: %d bytes of %d, error %v", name, order, len(got), len(want), err)
			}
		}
	}
}

// The output is always a part of the input, in order, and a stream without signals passes unchanged.
func FuzzHeard(f *testing.F) {
	f.Add([]byte("OK\r\n"), uint8(1))
	f.Add(encoded(f, dbus.TypeSignal, "UnitNew", binary.LittleEndian, "a.service"), uint8(3))
	f.Add(append(encoded(f, dbus.TypeMethodReply, "", binary.BigEndian, "x"), encoded(f, dbus.TypeSignal, "JobRemoved", binary.BigEndian, uint32(1))...), uint8(200))
	f.Add([]byte("l\x04\x00\x01\xff\xff\xff\xff\x01\x00\x00\x00\xff\xff\xff\xff"), uint8(5))
	f.Fuzz(func(t *testing.T, in []byte, chunk uint8) {
		filter := systemd.NewSignalFilter(stream{Reader: bytes.NewReader(in)})
		var got []byte
		buffer := make([]byte, int(chunk)+1)
		for {
			n, err := filter.Read(buffer)
			got = append(got, buffer[:n]...)
			if err != nil {
				if err != io.EOF {
					t.Fatal(err)
				}
				break
			}
		}
		rest := in
		for _, b := range got {
			i := bytes.IndexByte(rest, b)
			if i < 0 {
				t.Fatalf("%q is no part of %q", got, in)
			}
			rest = rest[i+1:]
		}
		if !bytes.ContainsRune(in, 4) && !bytes.Equal(got, in) {
			t.Fatalf("without a signal: %q of %q", got, in)
		}
	})
}
