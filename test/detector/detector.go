// Package detector says which tests the race detector has nothing to look for in.
//
// Under the detector a test takes five to ten times as long. One that goes through every case of something in the
// goroutines that the other tests have too would take minutes there, and find nothing that they do not. Only tests
// import the package.
package detector

import "testing"

// Skip leaves a test out of a run under the race detector.
func Skip(t testing.TB) {
	t.Helper()
	if enabled {
		t.Skip("goes through every case in the goroutines that other tests have too; the race detector needs one of them")
	}
}
