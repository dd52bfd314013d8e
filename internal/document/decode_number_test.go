package document_test

import (
	"strings"
	"testing"
)

// TestDecodeNumbers writes each number as a number and as a string.
func TestDecodeNumbers(t *testing.T) {
	const (
		outOfRange = "is out of range for a 32 bit integer"
		noInteger  = "want an integer"
		noNumber   = "want a number"
	)
	for _, c := range []struct{ field, number, want, reason string }{
		{"int32", "0", "0", ""},
		{"int32", "-0", "0", ""},
		{"int32", "2147483647", "2147483647", ""},
		{"int32", "-2147483648", "-2147483648", ""},
		{"int32", "2147483648", "0", outOfRange},
		{"int32", "-2147483649", "0", outOfRange},
		{"int32", "9223372036854775807", "0", outOfRange},
		{"int32", "1e3", "1000", ""},
		{"int32", "1.0", "1", ""},
		{"int32", "2147483648.0", "0", outOfRange},
		{"int32", "0.5", "0", noInteger},
		{"int32", "1e-1", "0", noInteger},
		{"int32", "1e400", "0", noInteger},
		{"int64", "9223372036854775807", "9223372036854775807", ""},
		{"int64", "-9223372036854775808", "-9223372036854775808", ""},
		{"int64", "9223372036854775808", "0", noInteger},
		{"int64", "-9223372036854775809", "0", noInteger},
		{"int64", "123456789012345678901234567890", "0", noInteger},
		{"int", "9223372036854775807", "9223372036854775807", ""},
		{"int", "9223372036854775808", "0", noInteger},
		{"float", "1.5", "1.5", ""},
		{"float", "-1e300", "-1e+300", ""},
		{"float", "1e400", "0", noNumber},
		{"float", "-1e400", "0", noNumber},
	} {
		for _, quote := range []string{"", `"`} {
			d := decode(t, `{"`+c.field+`":`+quote+c.number+quote+`}`)
			if got := value(t, &d.sample, c.field); got != c.want {
				t.Errorf("%s: %s%s became %s, want %s", c.field, quote, c.number, got, c.want)
			}
			reports := strings.Join(d.reports, "\n")
			if !strings.Contains(reports, c.reason) || (c.reason == "") != (reports == "") {
				t.Errorf("%s: %s%s is reported as %q, want %q", c.field, quote, c.number, reports, c.reason)
			}
		}
	}
}

// TestDecodeNoNumbers: strings that Go's parser accepts as numbers, and that are not JSON numbers.
func TestDecodeNoNumbers(t *testing.T) {
	for _, field := range []string{"int32", "int64", "float"} {
		for _, text := range []string{"", " ", " 1", "1 ", "NaN", "nan", "inf", "+Inf", "-Infinity", "0x10", "0x1p4", "1_000", "true", "1.2.3", "１"} {
			d := decode(t, `{"`+field+`":"`+text+`"}`)
			if got := value(t, &d.sample, field); got != "0" || len(d.reports) != 1 {
				t.Errorf("%s: %q became %s, reported as %q", field, text, got, d.reports)
			}
		}
	}
}
