package scenario

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestParseBoots(t *testing.T) {
	for text, want := range map[string]Boots{"1 boot": 1, "2 boots": 2, "0.5 boots": 0.5, "180 boots": 180} {
		if b, err := parseBoots(text); err != nil || b != want {
			t.Errorf("%q is %v, %v, want %v", text, b, err, want)
		}
	}
	for _, text := range []string{"", "2", "2s", "2 days", "-1 boots", "0 boots", "Inf boots", "NaN boots", "boots", " boots"} {
		if b, err := parseBoots(text); err == nil {
			t.Errorf("%q is taken for %v", text, b)
		}
	}
}

func TestPace(t *testing.T) {
	p := NewPace(10 * time.Second)
	for _, c := range []struct {
		name, kind string
		took, want time.Duration
	}{
		{"the first of a kind says what it takes", "off", 4 * time.Second, 10 * time.Second},
		{"another kind takes what it takes", "saved", 500 * time.Millisecond, 10 * time.Second},
		{"it is as fast as it was", "off", 4 * time.Second, 10 * time.Second},
		{"a machine that became slower", "off", 12 * time.Second, 30 * time.Second},
		{"one that became faster is not believed", "off", 2 * time.Second, 30 * time.Second},
		{"a little slower than it ever was", "saved", 2 * time.Second, 40 * time.Second},
		{"a kind that is seen late", "held", 8 * time.Second, 40 * time.Second},
		{"and again, at half the speed", "held", 16 * time.Second, 80 * time.Second},
	} {
		p.Started(c.kind, c.took)
		if boot := p.Of(1).Round(time.Millisecond); boot != c.want {
			t.Errorf("%s: a boot takes %s, want %s", c.name, boot, c.want)
		}
	}
	if half := p.Of(0.5).Round(time.Millisecond); half != 40*time.Second {
		t.Errorf("half a boot takes %s", half)
	}
}

func TestSeconds(t *testing.T) {
	p := NewPace(2500 * time.Millisecond)
	for text, want := range map[string]string{
		`{"a": "@1 boot@", "b": "@CA@"}`:         `{"a": "3", "b": "@CA@"}`,
		"--try @2 boots@s --timeout @30 boots@s": "--try 5s --timeout 75s",
		"me@2 boots":                             "me@2 boots",
	} {
		if got, err := p.Seconds(text); err != nil || got != want {
			t.Errorf("%s becomes %s, %v, want %s", text, got, err, want)
		}
	}
	if got, err := p.Seconds("@0 boots@"); err == nil {
		t.Errorf("no time at all becomes %s", got)
	}
}

// A time limit follows the pace at its end, not the pace at its beginning.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(10 * time.Second)
		p.Started("off", 4*time.Second)
		ctx, cancel := p.Within(t.Context(), 3)
		defer cancel()
		begin := time.Now()
		time.Sleep(20 * time.Second)
		p.Started("off", 8*time.Second) // the machine is half as fast since then
		<-ctx.Done()
		if took := time.Since(begin); took != 60*time.Second {
			t.Errorf("3 boots end after %s, want 60s", took)
		}
		if cause := context.Cause(ctx); !errors.Is(cause, errOver) || !strings.Contains(cause.Error(), "3 boots, which are 1m0s today") {
			t.Errorf("the cause is %v", cause)
		}
	})
}

func TestWithinThatIsNotNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := NewPace(time.Second).Within(t.Context(), 3)
		cancel()
		<-ctx.Done()
		if cause := context.Cause(ctx); errors.Is(cause, errOver) {
			t.Errorf("the cause is %v", cause)
		}
	})
}
