package status

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestEventMarshal(t *testing.T) {
	e := NewEvent("Slipway.Provision", LevelInformational, "completed <in> \"time\"\nand order", start, start.Add(1500*time.Millisecond))
	data, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "event.json.golden", append(data, '\n'))
	if bytes.ContainsRune(data, '\n') {
		t.Error("the event is not one line")
	}
	var keys map[string]string
	if err := json.Unmarshal(data, &keys); err != nil || len(keys) != 8 {
		t.Errorf("the event has the keys %v, %v", keys, err)
	}
}

func TestEventMarshalIsBounded(t *testing.T) {
	for _, unit := range []string{"a", "é", "\n", "\x00", "\xffa"} {
		data, err := NewEvent("t", LevelError, strings.Repeat(unit, 20_000), start, start).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("of %q: %v", unit, err)
		}
		if len(data) > maxEventDocument || len(e.Message) > maxEventMessage || len(e.Message) < 900 {
			t.Errorf("of %q: %d bytes, the message %d", unit, len(data), len(e.Message))
		}
	}
}

func TestEventFileName(t *testing.T) {
	name := regexp.MustCompile(`^[0-9]+\.json$`)
	seen := map[string]bool{}
	for _, at := range []time.Time{start, {}, time.Unix(-5, 0)} {
		for attempt := range 3 {
			got := EventFileName(at, attempt)
			if !name.MatchString(got) {
				t.Errorf("EventFileName(%v, %d) = %q", at, attempt, got)
			}
			if at.Equal(start) && seen[got] {
				t.Errorf("%q comes twice", got)
			}
			seen[got] = true
		}
	}
	if got := EventFileName(time.Unix(1, 2), 3); got != "1000000005.json" {
		t.Errorf("EventFileName = %q", got)
	}
}
