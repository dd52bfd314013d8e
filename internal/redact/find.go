package redact

import (
	"bytes"
	"regexp"
	"sync"
)

const (
	// maxBefore is how much of a line before a word is looked at, and maxAfter how much after it. A longer secret is looked at
	// again, up to maxSecret.
	maxBefore, maxAfter, maxSecret = 64, 1 << 10, 64 << 10
	// perHit limits how often an expression is tried: once in so many bytes, and minHits times in any text.
	perHit, minHits = 8, 1 << 10
	// maxKeyLines limits the lines of a private key. One of 16,384 bits has 200.
	maxKeyLines = 400
)

// wordIndex finds the words of all forms.
var wordIndex = sync.OnceValue(func() *matcher {
	index := newMatcher(minWord, true)
	for i, form := range secretForms() {
		for _, word := range form.words {
			if len(word) >= minWord {
				index.add(word, i)
			}
		}
	}
	return index
})

// byForm returns the secrets in a text that are recognized by their form, in no order. It gives up if the text consists of
// words that may belong to secrets, which only an attacker would write. lines means that the lines are records, of
// which no secret but a private key has several.
func byForm(data []byte, lines bool) (all []span, complete bool) {
	forms, ends := secretForms(), make([]int, len(secretForms()))
	hits := minHits + len(data)/perHit
	use := func(at, form int) {
		f := &forms[form]
		if at < ends[form] || lines && f.words[0] == keyWord {
			return // within a secret of the form
		}
		if hits--; hits < 0 {
			return
		}
		end := len(data)
		if lines {
			end = lineEnd(data, at)
		}
		if found, ok := f.at(data[:end], at); ok {
			all = append(all, found)
			ends[form] = found.end
		}
	}
	key := -1
	wordIndex().find(data, func(at, _, form int) int {
		if key < 0 && forms[form].words[0] == keyWord {
			key = at
		}
		use(at, form)
		return 0
	})
	for i := range forms {
		word := forms[i].words[0]
		if len(word) >= minWord {
			continue
		}
		for at := forms[i].next(data, 0); at >= 0; at = forms[i].next(data, at+len(word)) {
			use(at, i)
		}
	}
	if lines && key >= 0 {
		all = privateKeys(all, data, key)
	}
	return all, hits >= 0
}

// next finds the short word of a form from a position on. It returns -1 if the word is missing.
func (f *secretForm) next(data []byte, from int) int {
	word := f.words[0]
	for {
		at := bytes.Index(data[from:], []byte(word))
		if at < 0 {
			return -1
		}
		from += at
		if word != tokenWord || isTokenEnd(data[from+1:]) {
			return from
		}
		from++ // a dot is frequent
	}
}

// isTokenEnd reports whether a text begins as a bootstrap token ends.
func isTokenEnd(text []byte) bool {
	for i := range min(16, len(text)) {
		if b := text[i]; !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9') {
			return false
		}
	}
	return len(text) >= 16
}

// at returns the secret of the form with its word at a position.
func (f *secretForm) at(data []byte, at int) (found span, ok bool) {
	begin := at
	if f.before != nil {
		from := max(0, at-maxBefore)
		before := f.before.FindIndex(data[from:at])
		if before == nil {
			return span{}, false
		}
		if f.starts {
			begin = from + before[0]
		}
	}
	for size := maxAfter; ; size = maxSecret {
		text := data[at:min(len(data), at+size)]
		if f.sign != 0 && bytes.IndexByte(text, f.sign) < 0 {
			return span{}, false
		}
		groups := f.after.FindSubmatchIndex(text)
		if groups == nil {
			return span{}, false
		}
		if groups[1] == size && size < maxSecret {
			continue // it may be longer
		}
		for i := 3; i < len(groups); i += 2 {
			begin = max(begin, at+groups[i])
		}
		found = span{begin, at + groups[1] - len(f.suffix), 0}
		return found, !isPlaceholder(data[found.start:found.end])
	}
}

var (
	keyBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----`)
	keyEnd   = regexp.MustCompile(`-----END [A-Z0-9 ]*PRIVATE KEY-----`)
	keyText  = regexp.MustCompile(`[A-Za-z0-9+/=]{16,}`)
)

// isPlaceholder reports whether a text begins with what replaces a secret.
func isPlaceholder(text []byte) bool {
	return bytes.HasPrefix(text, []byte("<secret")) || bytes.HasPrefix(text, []byte(redacted))
}

// privateKeys finds private keys from a position on. The lines of one key may each be in another record of a journal: then only
// their text is the secret.
func privateKeys(all []span, data []byte, at int) []span {
	for {
		begin := keyBegin.FindIndex(data[at:])
		if begin == nil {
			return all
		}
		start := at + begin[0]
		at += begin[1]
		line := lineEnd(data, at)
		if end := keyEnd.FindIndex(data[at:line]); end != nil {
			at += end[1]
			all = append(all, span{start, at, 0})
			continue
		}
		for range maxKeyLines {
			until, last := line, false
			if end := keyEnd.FindIndex(data[at:line]); end != nil {
				until, last = at+end[0], true
			}
			for _, text := range keyText.FindAllIndex(data[at:until], -1) {
				all = append(all, span{at + text[0], at + text[1], 0})
			}
			if at = until; last || at == len(data) {
				break
			}
			line = lineEnd(data, at)
		}
	}
}

// lineEnd is the end of the line at a position, with its line break.
func lineEnd(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(data)
}
