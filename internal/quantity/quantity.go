// Package quantity parses Kubernetes' quantities, such as 200m, 1.5Gi and 1e3: it accepts and refuses the same as
// k8s.io/apimachinery pkg/api/resource, ParseQuantity.
package quantity

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Quantity is an amount, represented as in Kubernetes. The zero value is 0.
type Quantity struct {
	// number times ten to the power of scale is the amount, if large is nil.
	number int64
	scale  int32
	// large is an amount with more digits, in billionths: the smallest fraction in Kubernetes.
	large *big.Int
}

// suffixes are the units, by the base and the exponent of their factor.
var suffixes = map[string]struct{ base, exponent int32 }{
	"n": {10, -9}, "u": {10, -6}, "m": {10, -3}, "": {10, 0}, "k": {10, 3}, "M": {10, 6}, "G": {10, 9}, "T": {10, 12}, "P": {10, 15}, "E": {10, 18},
	"Ki": {2, 10}, "Mi": {2, 20}, "Gi": {2, 30}, "Ti": {2, 40}, "Pi": {2, 50}, "Ei": {2, 60},
}

// The limits to which an amount is cut before it is computed: more digits, or a larger exponent, do not matter, and cost time.
const (
	mostDigits   = 1000
	mostExponent = 100
)

// Parse parses an amount.
func Parse(text string) (q Quantity, ok bool) {
	if text == "" {
		return q, false
	}
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(text, "+")
	}
	isNumber := strings.ContainsAny(rest, "0123456789") && strings.TrimLeft(rest, ".")[0] <= '9'
	digits, rest := number(strings.TrimLeft(rest, "0"))
	fraction := ""
	if after, hasPoint := strings.CutPrefix(rest, "."); hasPoint {
		fraction, rest = number(after)
	}
	base, exponent, ok := factor(rest)
	if !ok || len(digits)+len(fraction) > mostDigits {
		return q, false
	}
	if q.compute(digits, fraction, base, exponent); q.large != nil && !isNumber {
		return Quantity{}, false // Kubernetes takes "Ki" for 0Ki, but refuses "Pi"
	}
	if negative {
		q.number = -q.number
		if q.large != nil {
			q.large.Neg(q.large)
		}
	}
	return q, true
}

// number cuts a text after its leading digits.
func number(text string) (digits, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(rest)], rest
}

// factor parses the text behind the digits: a unit, or an exponent of ten. Kubernetes keeps an exponent in 32 bits.
func factor(text string) (base, exponent int32, ok bool) {
	if f, isSuffix := suffixes[text]; isSuffix {
		return f.base, f.exponent, true
	}
	if text[0] != 'e' && text[0] != 'E' {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(text[1:], 10, 64)
	return 10, int32(n), err == nil
}

// compute sets the amount. Kubernetes keeps an amount in 64 bits if it has at most 18 digits, or 15 together with those of a binary
// unit, and no fraction with a binary unit.
func (q *Quantity) compute(digits, fraction string, base, exponent int32) {
	scale, precision, times := -int32(len(fraction)), int32(18-max(1, len(digits))-len(fraction)), int64(1)
	switch {
	case base == 10:
		scale += exponent
	case fraction != "":
		precision, times = -1, 1<<exponent
	default:
		precision, times = 14-int32(max(1, len(digits)))-exponent*3/10, 1<<exponent
	}
	if precision >= 0 && scale >= -9 {
		n := int64(0)
		for _, part := range [...]string{digits, fraction} {
			for i := range len(part) {
				n = 10*n + int64(part[i]-'0')
			}
		}
		if high, low := bits.Mul64(uint64(n), uint64(times)); high == 0 && low <= math.MaxInt64 {
			q.number, q.scale = int64(low), scale
			return
		}
	}
	n, _ := new(big.Int).SetString("0"+digits+fraction, 10)
	if n.Mul(n, big.NewInt(times)); n.Sign() != 0 {
		n = shifted(n, max(-mostExponent-mostDigits, min(scale, mostExponent))+9)
	}
	if largest := shifted(big.NewInt(math.MaxInt64), 9); base == 2 && n.Cmp(largest) > 0 {
		n = largest // the maximum with a binary unit
	}
	q.large = n
}

// shifted is a number times a power of ten, rounded up.
func shifted(n *big.Int, exponent int32) *big.Int {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent >= 0 {
		return power.Mul(n, power)
	}
	quotient, rest := new(big.Int).QuoRem(n, power, new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

// New returns a whole number.
func New(n int64) Quantity { return Quantity{number: n} }

// NewMilli returns a number of thousandths.
func NewMilli(n int64) Quantity { return Quantity{number: n, scale: -3} }

// Sign returns -1, 0 or 1.
func (q *Quantity) Sign() int {
	if q.large != nil {
		return q.large.Sign()
	}
	return cmp.Compare(q.number, 0)
}

// Whole returns the amount if Kubernetes keeps it as a whole number, and reports whether it does: 1.5M, but not 1.5Mi
// (resource.Quantity, AsInt64).
func (q *Quantity) Whole() (int64, bool) {
	if q.large != nil || q.scale < 0 {
		return 0, false
	}
	n := q.number
	for range q.scale {
		high, low := bits.Mul64(uint64(max(n, -n)), 10)
		if n == 0 || high != 0 || low > math.MaxInt64 {
			return 0, n == 0
		}
		n *= 10
	}
	return n, true
}

// IsLarge reports whether Kubernetes keeps the amount with more digits than 64 bits have.
func (q *Quantity) IsLarge() bool { return q.large != nil }

// Value returns the amount, rounded up, or the largest 64-bit integer for a larger one.
func (q *Quantity) Value() int64 { return q.scaled(0) }

// Milli returns the amount in thousandths, limited like Value.
func (q *Quantity) Milli() int64 { return q.scaled(3) }

// Micro returns the amount in millionths, limited like Value.
func (q *Quantity) Micro() int64 { return q.scaled(6) }

func (q *Quantity) scaled(exponent int32) int64 {
	if n, ok := (&Quantity{number: q.number, scale: q.scale + exponent}).Whole(); ok && q.large == nil {
		return n
	}
	if n := shifted(q.nano(), exponent-9); n.IsInt64() {
		return n.Int64()
	}
	return math.MaxInt64
}

// nano returns the amount in billionths.
func (q *Quantity) nano() *big.Int {
	if q.large != nil || q.Sign() == 0 {
		return cmp.Or(q.large, new(big.Int))
	}
	return shifted(big.NewInt(q.number), min(q.scale, mostExponent)+9)
}

// Add adds another amount.
func (q *Quantity) Add(other *Quantity) {
	*q = Quantity{large: new(big.Int).Add(q.nano(), other.nano())}
}

// Cmp returns -1, 0 or 1 if the amount is less than another, equal or more.
func (q *Quantity) Cmp(other *Quantity) int { return q.nano().Cmp(other.nano()) }

// units are the suffixes of texts, the largest first: powers of 1024 before those of 1000.
var units = []string{"Ei", "Pi", "Ti", "Gi", "Mi", "Ki", "E", "P", "T", "G", "M", "k"}

// Text returns the canonical text of an amount: a whole number of the largest possible unit, or else of thousandths. It is not
// exact if the amount has finer digits, or does not fit in 64 bits.
func (q *Quantity) Text() (text string, exact bool) {
	whole, exact := q.Whole()
	if !exact {
		whole = q.Value()
		back := New(whole)
		exact = q.Cmp(&back) == 0
	}
	if !exact {
		thousandths := NewMilli(q.Milli())
		return strconv.FormatInt(thousandths.number, 10) + "m", q.Cmp(&thousandths) == 0
	}
	for _, suffix := range units {
		if size := unitSize(suffix); whole != 0 && whole%size == 0 {
			return strconv.FormatInt(whole/size, 10) + suffix, true
		}
	}
	return strconv.FormatInt(whole, 10), true
}

// unitSize is the factor of a unit.
func unitSize(suffix string) int64 {
	f, size := suffixes[suffix], int64(1)
	if f.base == 2 {
		return size << f.exponent
	}
	for range f.exponent {
		size *= 10
	}
	return size
}
