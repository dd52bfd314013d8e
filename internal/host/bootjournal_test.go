package host

import (
	"strings"
	"testing"
)

// readBootJournal reads the boot's journal from a script in place of journalctl.
func readBootJournal(t *testing.T, lines string, limit int) (string, bool, error) {
	t.Helper()
	records, cut, err := bootJournal(t.Context(), script(t, lines), limit, []string{"A", "B"}, []string{"C=1", "+", "D=2"})
	return string(records), cut, err
}

func TestBootJournal(t *testing.T) {
	got, cut, err := readBootJournal(t, `echo "$*"`, 1000)
	if want := "--boot --output=json --no-pager --quiet --output-fields=A,B C=1 + D=2\n"; got != want || cut || err != nil {
		t.Errorf("got %.40q, %v, %v", got, cut, err)
	}
	// A journal that is too large is read from its beginning.
	if got, cut, err := readBootJournal(t, `echo beginning; while :; do echo more; done`, 12); got != "beginning\nmo" || !cut || err != nil {
		t.Errorf("got %.40q, %v, %v", got, cut, err)
	}
	if got, _, err := readBootJournal(t, `echo one; echo "No journal files were opened" >&2; exit 1`, 1000); got != "one\n" || err == nil || !strings.Contains(err.Error(), "No journal files") {
		t.Errorf("got %q, %v", got, err)
	}
}
