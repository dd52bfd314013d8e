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

// text returns a single value as a string, or "" for any other value.
func (v value) text() string {
	switch of := v.v.(type) {
	case string:
		return of
	case bool:
		return strconv.FormatBool(of)
	}
	return numeral(v.v)
}

// amount returns a whole number, or a duration in nanoseconds. A value of a wrong type is reported elsewhere.
func (v value) amount() (int64, bool) {
	if text, ok := v.v.(string); ok {
		d, err := time.ParseDuration(text)
		return int64(d), err == nil
	}
	n, err := strconv.ParseInt(numeral(v.v), 0, 64)
	return n, err == nil
}

// or returns the amount, or the default's.
func (v value) or(standard int64) int64 {
	n, ok := v.amount()
	if !ok || n == 0 && v.flag == "" && standard > int64(time.Second) { // a duration in the file is not a pointer, so 0 means the default
		return standard
	}
	return n
}

// list returns the strings of a list.
func (v value) list() []string {
	items, _ := v.v.([]any)
	texts := make([]string, len(items))
	for i := range items {
		texts[i] = value{v: items[i]}.text()
	}
	return texts
}

// isZero reports whether a value is absent, or the zero value of its Go type.
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

// isTrue reports whether an option's string means true.
func (v value) isTrue() bool {
	on, err := strconv.ParseBool(v.text())
	return err == nil && on
}

// hasWord reports whether a word is one of the rule's words.
func (r *rule) hasWord(word string) bool { return slices.Contains(strings.Split(r.words, " "), word) }

// others returns the values of the rule's other settings.
func (j *judge) others(r *rule) []value {
	var all []value
	for field := range strings.FieldsSeq(r.with) {
		all = append(all, j.get(field))
	}
	return all
}

// The checks of one value. An absent value is accepted, unless the rule requires one.

func isAbsent(_ *judge, _ *rule, v value) bool { return v.v == nil }
func isZero(_ *judge, _ *rule, v value) bool   { return v.isZero() }

// isNothing is isZero for a duration or a quantity. One that is too large for 64 bits counts as 0 here.
func isNothing(_ *judge, _ *rule, v value) bool {
	if n, ok := v.amount(); ok && n == 0 {
		return true
	}
	q, ok := quantity.Parse(v.text())
	_, isWhole := q.Whole()
	return v.isZero() || ok && (q.Sign() == 0 || !isWhole && !q.IsLarge() && q.Value() == math.MaxInt64)
}

// isNoFlag and isFlag check values that the kubelet reads only from its flags.
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

// isShare checks memoryThrottlingFactor, and isFormerFactor accepts its former default.
func isShare(_ *judge, _ *rule, v value) bool {
	n, err := strconv.ParseFloat(v.text(), 64)
	return err != nil || n > 0 && n <= 1
}

func isFormerFactor(_ *judge, _ *rule, v value) bool {
	n, err := strconv.ParseFloat(v.text(), 64)
	return err != nil || n == 0.9
}

// oneOf accepts an empty string in the file as the default, except for a list's item.
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

// isFalse checks a flag that ends the kubelet if it is true.
func isFalse(_ *judge, _ *rule, v value) bool {
	on, err := strconv.ParseBool(v.text())
	return v.v == nil || err == nil && !on
}

// isNoHelp accepts false only for a kubelet without a file: with a file it parses its flags a second time, and then does not know
// this one.
func isNoHelp(j *judge, r *rule, v value) bool {
	return v.v == nil || isFalse(j, r, v) && j.config == nil
}

func isWholePercent(_ *judge, _ *rule, v value) bool {
	text := v.text()
	n, err := strconv.ParseInt(strings.TrimRight(text, "%"), 10, 0)
	return v.name != "memory" || strings.HasSuffix(text, "%") && err == nil && n >= 0 && n <= 100
}

// isQuantity checks a reservation. reservedSystemCPUs wins over its processors, which the kubelet then does not read.
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

// percentage parses the percentage of an eviction threshold, as a fraction of 1 (pkg/kubelet/eviction/helpers.go, parsePercentage).
func percentage(text string) (float32, bool) {
	n, err := strconv.ParseFloat(strings.TrimRight(text, "%"), 32)
	return float32(n) / 100, err == nil
}

// isOff reports whether a threshold's value turns the threshold off.
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

// The patterns of names.
const (
	label     = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	hostLabel = `[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?`
	word      = `[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`
	// sysctl matches a part of a kernel parameter's name, and sysctlBegin one that ends with a star.
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

// form returns a function that matches a pattern. Few settings need one, so it is compiled at its first use.
func form(expression string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(` + expression + `)$`) })
	return func(text string) bool { return compiled().MatchString(text) }
}

// isQualifiedName reports whether a string is a name, or a DNS name and a name with a slash between (apimachinery,
// IsQualifiedName).
func isQualifiedName(text string) bool {
	slash := strings.IndexByte(text, '/')
	return isQualified(text) && slash <= 253 && len(text)-slash-1 <= 63
}

func isLabelValue(text string) bool { return len(text) <= 63 && isWord(text) }

// isImagePattern reports whether a string is an image without tag and digest (github.com/distribution/reference), or the prefix of
// one, ending with "/*".
func isImagePattern(_ *judge, _ *rule, v value) bool {
	text := v.text()
	if prefix, ok := strings.CutSuffix(text, "/*"); ok {
		return prefix != "" && !strings.Contains(prefix, "*") && strings.TrimSpace(text) == text
	}
	host, rest, hasSlash := strings.Cut(text, "/")
	isPath := func(text string) bool { return len(text) <= 255 && isImagePath(text) }
	return isPath(text) || hasSlash && isHost(host) && isPath(rest)
}

// isNamespaced reports whether a kubelet accepts a pattern of kernel parameters: names with dots or slashes between, the last of
// which may end with a star (k8s.io/kubernetes pkg/apis/policy/validation, IsValidSysctlPattern). The parameters must be
// namespaced.
func isNamespaced(j *judge, _ *rule, v value) bool {
	pattern, _ := v.v.(string)
	return isSysctlPattern(pattern) && hasNamespace(j.checker.clamp(j.checker.minor), strings.TrimSuffix(pattern, "*"))
}

func isSysctl(j *judge, _ *rule, v value) bool {
	return isSysctlPattern(v.name) && !strings.HasSuffix(v.name, "*") && hasNamespace(j.checker.minor, v.name)
}

func isSysctlPattern(pattern string) bool { return len(pattern) <= 253 && isSysctlOf(pattern) }

// hasNamespace reports whether a kubelet knows a parameter as namespaced: until 1.28 by prefixes (pkg/kubelet/sysctl/namespace.go),
// and since then by whole names and a few prefixes (k8s.io/component-helpers node/util/sysctl/namespace.go).
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

// withDots converts a kernel parameter's separators to dots, unless the first separator is a dot already (component-helpers,
// NormalizeName).
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
