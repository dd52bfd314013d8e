// Package hosttest is shared by the tests of internal/host and of its parts: a fake systemd that a test controls, a context whose
// deadline the test controls, and checks of errors.
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

// WantError checks that an error contains all texts.
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
