package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// slow is a reader that takes a piece only when the test allows it.
type slow struct {
	let  chan error
	took bytes.Buffer
}

func (s *slow) Write(p []byte) (int, error) {
	if err := <-s.let; err != nil {
		return 0, err
	}
	return s.took.Write(p)
}

func write(t *testing.T, b *Backlog, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if n, err := fmt.Fprint(b, text); n != len(text) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
}

func TestBacklogPassesOnInOrder(t *testing.T) {
	reader := &slow{let: make(chan error)}
	b := NewBacklog(reader, 0)
	write(t, b, "one ", "two ", strings.Repeat("three ", 20000))
	go func() {
		for range 4 {
			reader.let <- nil
		}
	}()
	if err := b.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	write(t, b, "four")
	if err := b.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if got := reader.took.String(); got != "one two "+strings.Repeat("three ", 20000)+"four" || b.Dropped() != 0 {
		t.Errorf("%d bytes, %d dropped: %.20q", len(got), b.Dropped(), got)
	}
	if err := NewBacklog(reader, 0).Flush(t.Context()); err != nil {
		t.Error("nothing written:", err)
	}
}

// If a reader stops, output beyond the limit is lost, but no time.
func TestBacklogIsBounded(t *testing.T) {
	reader := &slow{let: make(chan error)}
	b := NewBacklog(reader, 10)
	write(t, b, "12345", "67890", "dropped", "")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Flush(over); !errors.Is(err, errUnread) || b.Dropped() != 1 {
		t.Errorf("%v, %d dropped", err, b.Dropped())
	}
	for range 3 {
		reader.let <- nil
	}
	if err := b.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	go func() { reader.let <- nil }()
	write(t, b, "later")
	if err := b.Flush(t.Context()); err != nil || reader.took.String() != "1234567890later" {
		t.Errorf("%v: %q", err, reader.took.String())
	}
}

// Output that a reader does not take is lost and counted; the next may arrive.
func TestBacklogOutlivesItsReader(t *testing.T) {
	reader := &slow{let: make(chan error)}
	b := NewBacklog(reader, 0)
	write(t, b, "one", "two", "three", "four")
	gone := errors.New("broken pipe")
	for _, err := range []error{nil, gone, errors.New("again"), nil} {
		reader.let <- err
	}
	if err := b.Flush(t.Context()); !errors.Is(err, gone) || b.Dropped() != 2 || reader.took.String() != "onefour" {
		t.Errorf("%v, %d dropped: %q", err, b.Dropped(), reader.took.String())
	}
}
