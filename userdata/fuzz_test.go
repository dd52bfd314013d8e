package userdata

import (
	"errors"
	"regexp"
	"testing"
)

var (
	goodName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	goodValue = regexp.MustCompile(`^[^\n\r\x00]*$`)
)

// FuzzCustomData: every contract comes back unchanged from every rendering, or is refused for a
// true reason.
func FuzzCustomData(f *testing.F) {
	f.Add([]byte("{}"), uint8(0), "", "")
	f.Fuzz(func(t *testing.T, document []byte, place uint8, name, value string) {
		c := Contract{Document: document, Path: []string{AKSPath, NativePath, NativeYAMLPath, name}[place%4]}
		if name != "" || value != "" {
			c.Features = map[string]string{name: value}
		}
		valid := len(document) > 0 && (c.Path == AKSPath || c.Path == NativePath || c.Path == NativeYAMLPath) &&
			(c.Features == nil || c.Path == AKSPath && goodName.MatchString(name) && goodValue.MatchString(value))

		_, err := CustomData(c)
		var (
			invalid  *InvalidError
			tooLarge *TooLargeError
		)
		switch {
		case errors.As(err, &invalid):
			if valid {
				t.Fatalf("refused: %v", err)
			}
		case errors.As(err, &tooLarge):
			if !valid || len(document)+len(name)+len(value) < 40_000 {
				t.Fatalf("%d bytes are too large: %v", len(document), err)
			}
		case err != nil:
			t.Fatalf("an error of another kind: %v", err)
		case !valid:
			t.Fatalf("accepted %q in %q", value, name)
		default:
			checkRoundTrip(t, c)
		}
	})
}
