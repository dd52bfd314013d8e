package exitcode

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/exit-codes.md")

const document = "../docs/exit-codes.md"

// The page about exit codes has the table's content.
func TestDocument(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Exit codes\n\nThe table is for both programs. `slipway explain CODE` prints one entry. The numbers are AKS's, so AKS's tools\n" +
		"understand them. The third column shows what returns a code: Slipway, or only the scripts of AKS's images.\nFor AKS contracts, and when the agent runs as aks-node-controller, 240 replaces 236 to 239.\n" +
		"On a machine of a cloud that the last column names, the status has that cloud's text in place of the general one.\n\n" +
		"| code | name | from | meaning | what to do |\n|---|---|---|---|---|\n")
	for _, c := range All() {
		action := c.Action
		for _, cloud := range slices.Sorted(maps.Keys(c.Clouds)) {
			action += "<br>" + cloud + ": " + c.Clouds[cloud]
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s | %s |\n", c.Number, c.Name, c.Source, c.Meaning, action)
	}
	b.WriteString(scriptsOnlyText())
	if *update {
		if err := os.WriteFile(document, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(document)
	if err != nil || !bytes.Equal(have, b.Bytes()) {
		t.Errorf("%s is not the table: run make golden", document)
	}
}
