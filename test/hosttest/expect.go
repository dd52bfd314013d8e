// Package hosttest is what the tests of internal/host, and of the packages that it is made of, have in common: a systemd
// that does what a test says, a context whose time the test ends, and what is wanted of an error.
package hosttest

import (
	"strings"
	"testing"
)

// Must stops the test on an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// WantError wants an error that says all of the texts.
func WantError(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", texts)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}
