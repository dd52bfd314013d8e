// Package detector marks tests in which the race detector cannot find more than in others.
//
// Under the detector a test takes five to ten times as long. A test that tries every case with the same goroutines as other tests
// would take minutes there, and find nothing new. Only tests import the package.
package detector

import "testing"

// Skip skips a test in a run under the race detector.
func Skip(t testing.TB) {
	t.Helper()
	if enabled {
		t.Skip("goes through every case in the goroutines that other tests have too; the race detector needs one of them")
	}
}
