package kubeletapi

import (
	"math"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/quantity"
)

// text is a value as a text; empty for what is no single value.
func (v value) text() string {
	switch of := v.v.(type) {
	case string:
		return of
	case bool:
		return strconv.FormatBool(of)
	}
	return numeral(v.v)
}

// amount is a whole number, or a duration in nanoseconds; that of a wrong type is reported elsewhere.
func (v value) amount() (int64, bool) {
	if text, ok := v.v.(string); ok {
		d, err := time.ParseDuration(text)
		return int64(d), err == nil
	}
	n, err := strconv.ParseInt(numeral(v.v), 0, 64)
	return n, err == nil
}

// or is the amount, or that of the default.
func (v value) or(standard int64) int64 {
	n, ok := v.amount()
	if !ok || n == 0 && v.flag == "" && standard > int64(time.Second) { // a duration of the file is no pointer
		return standard
	}
	return n
}

// list are the texts of a list.
func (v value) list() []string {
	items, _ := v.v.([]any)
	texts := make([]string, len(items))
	for i := range items {
		texts[i] = value{v: items[i]}.text()
	}
	return texts
}

// isZero reports whether a value is not given, or is Go's zero value of its type.
func (v value) isZero() bool {
	switch of := v.v.(type) {
	case nil:
		return true
	case bool:
		return !of
	case []any:
		return len(of) == 0
	case map[string]any:
		return len(of) == 0
	case string:
		return of == ""
	}
	n, err := strconv.ParseFloat(numeral(v.v), 64)
	return err == nil && n == 0
}

// isTrue reports whether a text of an option stands for true.
func (v value) isTrue() bool {
	on, err := strconv.ParseBool(v.text())
	return err == nil && on
}

// hasWord reports whether a word is one of a rule's.
func (r *rule) hasWord(word string) bool { return slices.Contains(strings.Split(r.words, " "), word) }

// others returns the values of the settings that a rule is also of.
func (j *judge) others(r *rule) []value {
	var all []value
	for field := range strings.FieldsSeq(r.with) {
		all = append(all, j.get(field))
	}
	return all
}

// The checks of one value. One that is not given is taken, but where it is wanted.

func isAbsent(_ *judge, _ *rule, v value) bool { return v.v == nil }
func isZero(_ *judge, _ *rule, v value) bool   { return v.isZero() }

// isNothing is isZero of a duration or a quantity: one that is too large for 64 bits counts as 0 there.
func isNothing(_ *judge, _ *rule, v value) bool {
	if n, ok := v.amount(); ok && n == 0 {
		return true
	}
	q, ok := quantity.Parse(v.text())
	_, isWhole := q.Whole()
	return v.isZero() || ok && (q.Sign() == 0 || !isWhole && !q.IsLarge() && q.Value() == math.MaxInt64)
}

// isNoFlag and isFlag are of what the kubelet reads of its flags alone.
func isNoFlag(_ *judge, _ *rule, v value) bool { return v.flag == "" || v.isZero() }
func isFlag(_ *judge, _ *rule, v value) bool   { return v.flag != "" || v.isZero() }

func isGiven(_ *judge, _ *rule, v value) bool {
	switch of := v.v.(type) {
	case string:
		return of != ""
	case []any:
		return len(of) > 0
	}
	return v.v != nil
}

func within(_ *judge, r *rule, v value) bool {
	n, ok := v.amount()
	return !ok || n >= r.least && n <= r.most || n == 0 && r.zero && v.flag == ""
}

func multipleOf(j *judge, r *rule, v value) bool {
	n, _ := v.amount()
	return within(j, r, v) && n%r.least == 0
}

func isNotPositive(_ *judge, _ *rule, v value) bool {
	n, _ := v.amount()
	return n <= 0
}

// isShare is of memoryThrottlingFactor, and isFormerFactor of the value that it had by default.
func isShare(_ *judge, _ *rule, v value) bool {
	n, err := strconv.ParseFloat(v.text(), 64)
	return err != nil || n > 0 && n <= 1
}

func isFormerFactor(_ *judge, _ *rule, v value) bool {
	n, err := strconv.ParseFloat(v.text(), 64)
	return err != nil || n == 0.9
}

// oneOf takes an empty text of the file for the default, but for an item of a list.
func oneOf(_ *judge, r *rule, v value) bool {
	text := v.text()
	return r.hasWord(text) || text == "" && (r.zero || v.flag == "" && v.in != nil)
}

func oneOfGiven(j *judge, r *rule, v value) bool { return r.hasWord(v.text()) }
func isNoneOf(_ *judge, r *rule, v value) bool   { return !r.hasWord(v.text()) }
func isKey(_ *judge, r *rule, v value) bool      { return r.hasWord(v.name) }
func isNotKey(_ *judge, r *rule, v value) bool   { return !r.hasWord(v.name) }
func isMemoryKey(_ *judge, _ *rule, v value) bool {
	return isMemory(v.name)
}

func isMemory(name string) bool { return name == "memory" || strings.HasPrefix(name, "hugepages-") }

func isDuration(_ *judge, r *rule, v value) bool {
	n, ok := v.amount()
	return ok && n >= r.least && n <= r.most
}

func isBool(_ *judge, _ *rule, v value) bool {
	_, err := strconv.ParseBool(v.text())
	return err == nil
}

// isFalse is of a flag that ends the kubelet where it is true.
func isFalse(_ *judge, _ *rule, v value) bool {
	on, err := strconv.ParseBool(v.text())
	return v.v == nil || err == nil && !on
}

// isNoHelp is false, and given to a kubelet without a file: with one it reads its flags once more, and does not know this one then.
func isNoHelp(j *judge, r *rule, v value) bool {
	return v.v == nil || isFalse(j, r, v) && j.config == nil
}

func isWholePercent(_ *judge, _ *rule, v value) bool {
	text := v.text()
	n, err := strconv.ParseInt(strings.TrimRight(text, "%"), 10, 0)
	return v.name != "memory" || strings.HasSuffix(text, "%") && err == nil && n >= 0 && n <= 100
}

// isQuantity is of a reservation: reservedSystemCPUs goes before its processors, which are not read then.
func isQuantity(j *judge, r *rule, v value) bool {
	if set, ok := cpuSetOf(j.get(r.with).text()); ok && set.count > 0 && v.name == "cpu" {
		return true
	}
	q, ok := quantity.Parse(v.text())
	return ok && q.Sign() >= 0
}

func isNotZero(_ *judge, _ *rule, v value) bool {
	q, ok := quantity.Parse(strings.TrimSpace(v.text()))
	return !ok || q.Sign() != 0
}

func isWholeQuantity(_ *judge, _ *rule, v value) bool {
	if v.v == nil || v.v == "" && v.flag == "" {
		return true
	}
	q, ok := quantity.Parse(v.text())
	_, isWhole := q.Whole()
	return ok && isWhole
}

// percentage reads a percentage of a threshold of eviction, as a part of 1 (pkg/kubelet/eviction/helpers.go, parsePercentage).
func percentage(text string) (float32, bool) {
	n, err := strconv.ParseFloat(strings.TrimRight(text, "%"), 32)
	return float32(n) / 100, err == nil
}

// isOff reports whether a threshold stands for none.
func isOff(threshold string) bool { return threshold == "0%" || threshold == "100%" }

func isThreshold(_ *judge, _ *rule, v value) bool {
	text := v.text()
	if strings.HasSuffix(text, "%") {
		share, ok := percentage(text)
		return isOff(text) || ok && !(share < 0) && !(share > 1)
	}
	q, ok := quantity.Parse(text)
	return ok && q.Sign() > 0
}

func isReclaim(_ *judge, _ *rule, v value) bool {
	text := v.text()
	if strings.HasSuffix(text, "%") {
		share, ok := percentage(text)
		return ok && !(share <= 0)
	}
	q, ok := quantity.Parse(text)
	return ok && q.Sign() >= 0
}

func isAddress(_ *judge, _ *rule, v value) bool {
	text, ok := v.v.(string)
	return !ok || text == "" && v.in != nil || isIP(text)
}

func isCleanPath(_ *judge, _ *rule, v value) bool {
	text := v.text()
	return text == "" || path.IsAbs(text) && path.Clean(text) == text && strings.IndexFunc(text, func(r rune) bool { return r > 127 }) < 0
}

func isPreviousMinor(j *judge, _ *rule, v value) bool {
	return v.isZero() || v.text() == "1."+strconv.Itoa(j.checker.minor-1)
}

func isEndpoint(_ *judge, _ *rule, v value) bool {
	text, ok := v.v.(string)
	if !strings.Contains(text, "//") {
		text = "dns://" + text
	}
	u, err := url.Parse(text)
	return !ok || err == nil && (u.Scheme == "dns" || u.Scheme == "unix" || u.Scheme == "unix-abstract")
}

func isMatchImage(_ *judge, _ *rule, v value) bool {
	_, err := url.Parse("https://" + v.text())
	return err == nil
}

func isFileName(_ *judge, _ *rule, v value) bool {
	text := v.text()
	return text != "" && text != "." && text != ".." && !strings.ContainsAny(text, "/ ")
}

func isNotBlank(_ *judge, _ *rule, v value) bool {
	text := v.text()
	return text == "" || strings.TrimSpace(text) != ""
}

func isFilePattern(_ *judge, _ *rule, v value) bool {
	text := v.text()
	return text != "" && !strings.ContainsAny(text, "=,")
}

func isTaintKey(_ *judge, _ *rule, v value) bool { return isQualifiedName(v.text()) }
func isTaintValue(_ *judge, _ *rule, v value) bool {
	return v.text() == "" || isLabelValue(v.text())
}

func isTaintEffect(effect string) bool {
	return effect == "NoSchedule" || effect == "PreferNoSchedule" || effect == "NoExecute"
}

func isAnnotation(_ *judge, _ *rule, v value) bool { return isQualifiedName(strings.ToLower(v.text())) }

// The forms of names.
const (
	label     = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	hostLabel = `[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?`
	word      = `[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`
	// sysctl is a part of a kernel parameter's name, and sysctlBegin one that a star ends.
	sysctl      = `[a-z0-9]([-_a-z0-9]*[a-z0-9])?`
	sysctlBegin = `([a-z0-9][-_a-z0-9]*)?[*]`
	imagePart   = `[a-z0-9]+(([.]|__?|-+)[a-z0-9]+)*`
)

var (
	isWord      = form(word)
	isQualified = form(`(` + label + `([.]` + label + `)*/)?` + word)
	isImagePath = form(imagePart + `(/` + imagePart + `)*`)
	isHost      = form(`(\[[0-9a-fA-F:]+\]|` + hostLabel + `([.]` + hostLabel + `)*)(:[0-9]+)?`)
	isSysctlOf  = form(`(` + sysctl + `[./])*(` + sysctl + `|` + sysctlBegin + `)`)
)

// form reports whether a text has a form. Few settings need one, so it is compiled when the first does.
func form(expression string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(` + expression + `)$`) })
	return func(text string) bool { return compiled().MatchString(text) }
}

// isQualifiedName reports whether a text is a name, or a DNS name and a name with a slash between (apimachinery, IsQualifiedName).
func isQualifiedName(text string) bool {
	slash := strings.IndexByte(text, '/')
	return isQualified(text) && slash <= 253 && len(text)-slash-1 <= 63
}

func isLabelValue(text string) bool { return len(text) <= 63 && isWord(text) }

// isImagePattern reports whether a text is an image without tag and digest (github.com/distribution/reference), or a beginning of one that
// ends with "/*".
func isImagePattern(_ *judge, _ *rule, v value) bool {
	text := v.text()
	if prefix, ok := strings.CutSuffix(text, "/*"); ok {
		return prefix != "" && !strings.Contains(prefix, "*") && strings.TrimSpace(text) == text
	}
	host, rest, hasSlash := strings.Cut(text, "/")
	isPath := func(text string) bool { return len(text) <= 255 && isImagePath(text) }
	return isPath(text) || hasSlash && isHost(host) && isPath(rest)
}

// isNamespaced reports whether a kubelet takes a pattern of kernel parameters: names with dots or slashes between, the last of
// which may end with a star (k8s.io/kubernetes pkg/apis/policy/validation, IsValidSysctlPattern), of what the kernel has for a group
// of processes by itself.
func isNamespaced(j *judge, _ *rule, v value) bool {
	pattern, _ := v.v.(string)
	return isSysctlPattern(pattern) && hasNamespace(j.checker.clamp(j.checker.minor), strings.TrimSuffix(pattern, "*"))
}

func isSysctl(j *judge, _ *rule, v value) bool {
	return isSysctlPattern(v.name) && !strings.HasSuffix(v.name, "*") && hasNamespace(j.checker.minor, v.name)
}

func isSysctlPattern(pattern string) bool { return len(pattern) <= 253 && isSysctlOf(pattern) }

// hasNamespace reports whether a kubelet knows that the kernel has a parameter for a group of processes: until 1.28 by the beginnings of
// names (pkg/kubelet/sysctl/namespace.go), and since then by whole names but for a few beginnings (k8s.io/component-helpers
// node/util/sysctl/namespace.go).
func hasNamespace(minor int, name string) bool {
	const names = " kernel.sem kernel.shmall kernel.shmmax kernel.shmmni kernel.shm_rmid_forced kernel.shm kernel.msgmax kernel.msgmnb kernel.msgmni kernel.msg "
	if minor < 29 {
		name = strings.ReplaceAll(name, "/", ".")
		return strings.HasPrefix(name, "net.") || strings.HasPrefix(name, "fs.mqueue.") || strings.HasPrefix(name, "kernel.shm") ||
			strings.HasPrefix(name, "kernel.msg") || name == "kernel.sem"
	}
	name = withDots(name)
	if minor >= 37 && (strings.HasPrefix(name, "user.") || name == "kernel.domainname") {
		return true
	}
	return strings.HasPrefix(name, "net.") || strings.HasPrefix(name, "fs.mqueue.") || strings.Contains(names, " "+name+" ")
}

// withDots writes a kernel parameter with dots between its parts, as one that has a dot first is (component-helpers, NormalizeName).
func withDots(name string) string {
	if i := strings.IndexAny(name, "./"); i < 0 || name[i] == '.' {
		return name
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, name)
}
