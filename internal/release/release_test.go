package release_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/release"
)

const digest = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"

func TestParseSums(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":        {"", "SHA256SUMS: is empty"},
		"one space":      {digest + " a\n", "line 1: want a SHA-256"},
		"binary mode":    {digest + " *a\n", "line 1: want a SHA-256"},
		"capitals":       {strings.ToUpper(digest) + "  a\n", "line 1: want a SHA-256"},
		"short":          {digest[2:] + "  a\n", "line 1: want a SHA-256"},
		"empty line":     {digest + "  a\n\n", "line 2: want a SHA-256"},
		"no name":        {digest + "  \n", `line 1: "" is not the name`},
		"directory":      {digest + "  a/b\n", `line 1: "a/b" is not the name`},
		"parent":         {digest + "  ..\n", `line 1: ".." is not the name`},
		"option":         {digest + "  -rf\n", `line 1: "-rf" is not the name`},
		"carriage":       {digest + "  a\r\n", `is not the name`},
		"twice":          {digest + "  a\n" + digest + "  a\n", "line 2: a is in it twice"},
		"itself":         {digest + "  SHA256SUMS\n", "the list cannot have SHA256SUMS"},
		"its signature":  {digest + "  SHA256SUMS.2.sig\n", "the list cannot have SHA256SUMS.2.sig"},
		"no line's end":  {digest + "  a", ""},
		"usual":          {digest + "  a\n" + digest + "  slipway-0.1.0~rc1-1.x86_64.rpm\n", ""},
		"name too long":  {digest + "  " + strings.Repeat("a", 129) + "\n", "is not the name"},
		"not in ASCII":   {digest + "  ä\n", "is not the name"},
		"with a comment": {"# a list\n", "line 1: want a SHA-256"},
	} {
		_, err := release.ParseSums([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzParseSums: a list that is read is written as it was, but for its order.
func FuzzParseSums(f *testing.F) {
	f.Add([]byte(digest + "  a\n" + digest + "  b\n"))
	f.Add([]byte(digest + "  slipway_0.1.0_amd64.deb"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sums, err := release.ParseSums(data)
		if err != nil {
			return
		}
		again, err := release.ParseSums(release.FormatSums(sums))
		if err != nil || len(again) != len(sums) || len(release.FormatSums(sums)) < len(data) {
			t.Errorf("%q: %v, %v", data, again, err)
		}
	})
}
