package unitfile

import (
	_ "embed"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
)

// keyList has a line for each set of sections: the sections, the kind of the values, and the keys. Kinds are b for yes or no, s for a
// time, and - for others. It has what "systemd --dump-configuration-items" of 252 prints, and the keys that src/core/load-fragment-gperf.gperf.in
// had besides in 2026: a node's systemd may be older or newer.
//
//go:embed keys.txt
var keyList string

// verdict is systemd's judgement of a value. why is empty if systemd accepts it.
type verdict struct {
	why     string
	refused bool
}

// emptied means that a value clears a list, as an empty one does.
const emptied = -1

func refused(why string) verdict { return verdict{why, true} }
func ignored(why string) verdict { return verdict{why, false} }

// key is a known setting.
type key struct {
	kind byte
	// list is the name of the list that its values are added to, and that an empty value clears; "=" means the
	// setting's name. The values of other settings replace each other.
	list string
	// check returns how many values systemd accepts of one, or emptied, and the verdict. It may be nil.
	check func(unit, value string) (int, verdict)
	// words are the possible values. Empty means any.
	words string
}

const unknownKey = 0

// rule is systemd's check of the values of some settings.
type rule struct {
	sections, keys string
	key
	source string
}

// The sources, as in judge.go.
const (
	inFragment = "src/core/load-fragment.c: "
	inExec     = inFragment + "config_parse_exec"
	inUser     = inFragment + "config_parse_user_group_compat; src/basic/user-util.c: valid_user_group_name"
	inPath     = inFragment + "config_parse_unit_path_printf; src/shared/parse-helpers.c: path_simplify_and_warn"
	inListen   = inFragment + "config_parse_socket_listen; src/shared/socket-netlink.c: socket_address_parse"
	inWords    = inFragment + "the tables of words of each setting"
)

// rules are the settings whose values systemd refuses, or whose values matter for a refusal.
var rules = [...]rule{
	{"Service", "ExecCondition ExecReload ExecReloadPost ExecStart ExecStartPost ExecStartPre ExecStop ExecStopPost", key{list: "=", check: commands}, inExec},
	{"Socket", "ExecStartPost ExecStartPre ExecStopPost ExecStopPre", key{list: "=", check: commands}, inExec},
	{"Service Socket Mount Swap", "User Group", key{list: "=", check: isUser}, inUser},
	{"Service Socket Mount Swap", "SupplementaryGroups", key{list: "=", check: areUsers}, inFragment + "config_parse_user_group_strv_compat"},
	{"Socket", "SocketUser SocketGroup", key{list: "=", check: isUser}, inUser},
	{"Service Socket Mount Swap", "RootDirectory RootImage RootVerity", key{list: "=", check: neededPath}, inPath},
	{"Service Socket Mount Swap", "WorkingDirectory", key{list: "=", check: workingDirectory}, inFragment + "config_parse_working_directory"},
	{"Service Socket Mount Swap", "DynamicUser", key{check: neededBoolean}, inFragment + "config_parse_bool, with ltype"},
	{"Service", "PIDFile", key{list: "=", check: pidFile}, inFragment + "config_parse_pid_file"},
	{"Mount Automount", "Where", key{list: "=", check: unitPath}, inPath},
	{"Swap", "What", key{list: "=", check: unitPath}, inPath},
	{"Mount", "What", key{list: "=", check: isText}, inFragment + "config_parse_unit_string_printf"},
	{"Path", "PathExists PathExistsGlob PathChanged PathModified DirectoryNotEmpty", key{list: "Watch", check: plainPath}, inFragment + "config_parse_path_spec"},
	{"Socket", "ListenStream ListenDatagram ListenSequentialPacket", key{list: "Listen", check: socketAddress}, inListen},
	{"Socket", "ListenFIFO ListenSpecial ListenMessageQueue ListenUSBFunction", key{list: "Listen", check: plainPath}, inListen},
	{"Socket", "ListenNetlink", key{list: "Listen", check: netlinkAddress}, inListen},
	{"Socket", "Symlinks", key{list: "=", check: plainPaths}, inFragment + "config_parse_unit_path_strv_printf"},
	{"Socket", "Service", key{check: isService}, inFragment + "config_parse_socket_service"},
	{"Socket", "MaxConnections", key{check: isUnsigned}, "src/shared/conf-parser.c: config_parse_unsigned"},
	{"Timer", "OnActiveSec OnBootSec OnStartupSec OnUnitActiveSec OnUnitInactiveSec", key{list: "On", check: timespan}, inFragment + "config_parse_timer; src/basic/time-util.c: parse_time"},
	{"Timer", "OnCalendar", key{list: "On", check: calendar}, inFragment + "config_parse_timer; src/shared/calendarspec.c: calendar_spec_from_string"},
	{"Service", "BusName", key{check: isBusName}, inFragment + "config_parse_bus_name"},
	{"Service", "PAMName", key{list: "=", check: isText}, inFragment + "config_parse_unit_string_printf"},
	{"Service", "Type", key{words: "simple exec forking oneshot dbus notify notify-reload idle"}, inWords},
	{"Service", "ExitType", key{words: "main cgroup"}, inWords},
	{"Service", "Restart", key{words: "no on-success on-failure on-abnormal on-watchdog on-abort always"}, inWords},
	{"Service Socket Mount Swap", "KillMode", key{list: "=", words: "control-group process mixed none"}, inWords},
	{"Unit", "SuccessAction FailureAction", key{words: "none reboot reboot-force reboot-immediate poweroff poweroff-force poweroff-immediate exit exit-force soft-reboot soft-reboot-force kexec kexec-force halt halt-force halt-immediate"}, inWords},
	{"Service Socket Mount Swap", "Environment", key{list: "=", check: assignments}, inFragment + "config_parse_environ"},
	{"Service Socket Mount Swap", "EnvironmentFile", key{list: "=", check: optionalPath}, inFragment + "config_parse_unit_env_file"},
}

// knownKeys are the known settings by section and name.
var knownKeys = sync.OnceValue(func() map[[2]string]key {
	all := make(map[[2]string]key)
	for line := range strings.Lines(keyList) {
		words := strings.Fields(line)
		for _, name := range words[2:] {
			k := key{kind: words[1][0]}
			switch k.kind {
			case 'b':
				k.check = isBoolean
			case 's':
				k.check = isTime
			}
			for section := range strings.SplitSeq(words[0], ",") {
				all[[2]string{section, name}] = k
			}
		}
	}
	for i := range rules {
		for section := range strings.FieldsSeq(rules[i].sections) {
			for name := range strings.FieldsSeq(rules[i].keys) {
				k := rules[i].key
				k.kind = '-'
				all[[2]string{section, name}] = k
			}
		}
	}
	return all
})

func keyOf(section, name string) key { return knownKeys()[[2]string{section, name}] }

// nearestKey is the name of a setting that was probably meant, with words before it. It may be empty.
func nearestKey(section, name string) string {
	var there []string
	elsewhere := ""
	for k := range knownKeys() {
		if k[0] == section {
			there = append(there, k[1])
		} else if k[1] == name && (elsewhere == "" || k[0] < elsewhere) {
			elsewhere = k[0]
		}
	}
	if elsewhere != "" {
		return "; it belongs into [" + elsewhere + "]"
	}
	return document.Suggestion(name, there)
}

// name is the key under which a setting's values are kept.
func (k *key) name(g Given) string {
	switch {
	case g.Section == "Unit", g.Section == "Install":
		return g.Section + "." + g.Key
	case k.list != "" && k.list != "=":
		return k.list
	}
	return g.Key
}

// takes returns why a value is not one of the possible words, or "".
func (k *key) takes(value string) string {
	if k.words == "" || has(strings.Fields(k.words), value) {
		return ""
	}
	return "is not one of " + strings.ReplaceAll(k.words, " ", ", ")
}

// takesOrIgnores is the result of a check of one value that systemd ignores if it is invalid.
func takesOrIgnores(ok bool, why string) (int, verdict) {
	if ok {
		return 1, verdict{}
	}
	return 0, ignored(why)
}

// IsOn reports whether a value means yes (src/basic/parse-util.c, parse_boolean).
func IsOn(value string) bool {
	on, _ := boolean(value)
	return on
}

func boolean(value string) (on, ok bool) {
	value = strings.ToLower(value)
	on = has([]string{"1", "yes", "y", "true", "t", "on"}, value)
	return on, on || has([]string{"0", "no", "n", "false", "f", "off"}, value)
}

func isBoolean(_, value string) (int, verdict) {
	_, ok := boolean(value)
	return takesOrIgnores(ok, "is neither yes nor no")
}

func neededBoolean(_, value string) (int, verdict) {
	if _, ok := boolean(value); !ok {
		return 0, refused("is neither yes nor no")
	}
	return 1, verdict{}
}

// commands parses a command line, or several separated by semicolons.
func commands(unit, value string) (count int, v verdict) {
	for rest, more := value, true; more; {
		first, after, ok := nextWord(rest)
		if first.open {
			return count, ignored("has a quote that is not closed")
		}
		if !ok {
			return count, verdict{}
		}
		why, prefixes := program(unit, first.text)
		rest, more = after, false
		arguments := 0
		for rest != "" && why == "" {
			if tail := strings.TrimPrefix(rest, ";"); tail != rest && (tail == "" || strings.IndexByte(blanks, tail[0]) >= 0) {
				rest, more = strings.TrimLeft(tail, blanks), true
				break
			}
			var w word
			if w, rest, _ = nextWord(rest); w.open {
				why = "has a quote that is not closed"
			}
			arguments++
		}
		if why == "" && arguments == 0 && strings.Contains(prefixes, "@") {
			why = "has no name for the program to be called by, which @ takes"
		}
		switch {
		case why != "" && strings.Contains(prefixes, "-"):
			return count, ignored(why)
		case why != "":
			return count, refused(why)
		}
		count++
	}
	return count, verdict{}
}

// program parses the first word of a command: prefixes and a path.
func program(unit, text string) (why, prefixes string) {
	for text != "" {
		c := text[:1]
		switch {
		case strings.Contains("-@:", c) && !strings.Contains(prefixes, c), c == "+" && !strings.ContainsAny(prefixes, "+!"), c == "!" && !strings.ContainsAny(prefixes, "+") && strings.Count(prefixes, "!") < 2:
			prefixes, text = prefixes+c, text[1:]
			continue
		}
		break
	}
	name := expand(unit, text)
	switch {
	case name == "":
		return "names no program", prefixes
	case !isSafe(name):
		return "has quotes, backslashes or control characters in the name of the program", prefixes
	case strings.HasSuffix(name, "/"):
		return "names a directory in place of a program", prefixes
	case !isValidPath(name) && (strings.Contains(name, "/") || len(name) > 255 || name == "." || name == ".."):
		return "has a program that is neither an absolute path nor a plain name", prefixes
	}
	return "", prefixes
}

// isValidPath reports whether a path is absolute, and neither the path nor an element is too long
// (src/basic/path-util.c, path_is_valid).
func isValidPath(name string) bool {
	if !strings.HasPrefix(name, "/") || len(name) >= 4096 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 {
			return false
		}
	}
	return true
}

// isPath reports whether systemd accepts a path.
func isPath(name string) bool { return isValidPath(name) && !has(strings.Split(name, "/"), "..") }

const noPath = "is no absolute path without .."

func plainPath(unit, value string) (int, verdict) {
	return takesOrIgnores(isPath(expand(unit, value)), noPath)
}

// unitPath is a path that may be empty after its specifiers are expanded.
func unitPath(unit, value string) (int, verdict) {
	if expand(unit, value) == "" {
		return emptied, verdict{}
	}
	return plainPath(unit, value)
}

func neededPath(unit, value string) (int, verdict) {
	entries, v := unitPath(unit, value)
	v.refused = v.why != ""
	return entries, v
}

func optionalPath(unit, value string) (int, verdict) {
	return plainPath(unit, strings.TrimPrefix(value, "-"))
}

func plainPaths(unit, value string) (count int, v verdict) {
	for rest := value; rest != ""; {
		var w word
		if w, rest, _ = nextWord(rest); w.open {
			return count, ignored("has a quote that is not closed")
		}
		n, bad := plainPath(unit, w.text)
		count += n
		if bad.why != "" {
			v = bad
		}
	}
	return count, v
}

func workingDirectory(unit, value string) (int, verdict) {
	value, optional := strings.CutPrefix(value, "-")
	switch {
	case value == "~", isPath(expand(unit, value)):
		return 1, verdict{}
	case optional:
		return 0, ignored(noPath)
	}
	return 0, refused(noPath)
}

func pidFile(unit, value string) (int, verdict) {
	value = expand(unit, value)
	if !strings.HasPrefix(value, "/") {
		value = "/run/" + value
	}
	if !isPath(value) {
		return 0, refused("is no path without ..")
	}
	return 1, verdict{}
}

func isText(unit, value string) (int, verdict) {
	if expand(unit, value) == "" {
		return emptied, verdict{}
	}
	return 1, verdict{}
}

const noUser = "is no name or number of a user or group"

func isUser(unit, value string) (int, verdict) {
	if !isUserName(expand(unit, value)) {
		return 0, refused(noUser)
	}
	return 1, verdict{}
}

func areUsers(unit, value string) (count int, v verdict) {
	for rest := value; rest != ""; count++ {
		var w word
		if w, rest, _ = nextWord(rest); w.open {
			return count, ignored("has a quote that is not closed")
		}
		if !isUserName(expand(unit, w.text)) {
			return count, refused(noUser)
		}
	}
	return count, verdict{}
}

// isUserName reports whether systemd accepts a name, or a number, of a user or group.
func isUserName(name string) bool {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil && (name == "0" || name[0] != '0') {
		return n != 1<<16-1 && n != 1<<32-1
	}
	isNumber := strings.Trim(strings.TrimPrefix(name, "-"), "0123456789") == ""
	return name != "" && !isNumber && name != "." && name != ".." && !strings.ContainsAny(name, ":/") && isSafe(strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(name)) &&
		strings.Trim(name, " ") == name
}

func socketAddress(unit, value string) (int, verdict) {
	value = expand(unit, value)
	return takesOrIgnores(isSocketAddress(value), "is no address such as /run/a.sock, @a, 80, 127.0.0.1:80 or [::1]:80")
}

// maxSocketPath is the longest path of a socket (unix(7)).
const maxSocketPath = 107

func isSocketAddress(value string) bool {
	switch {
	case strings.HasPrefix(value, "/"):
		return len(value) <= maxSocketPath
	case strings.HasPrefix(value, "@"):
		return len(value) > 1 && len(value) <= maxSocketPath
	case strings.HasPrefix(value, "vsock:"):
		cid, port, ok := strings.Cut(value[len("vsock:"):], ":")
		return ok && (cid == "" || isNumber(cid, 0, 1<<32-1)) && isNumber(port, 0, 1<<32-1)
	case isNumber(value, 1, 1<<16-1):
		return true
	}
	host, port, ok := cutLast(value, ':')
	if !ok || !isNumber(port, 1, 1<<16-1) {
		return false
	}
	if inner, isSix := strings.CutPrefix(host, "["); isSix {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && addr.Is6() && strings.HasSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Is4()
}

func cutLast(text string, by byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, by)
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+1:], true
}

func isNumber(text string, least, most uint64) bool {
	base := 10
	if text = strings.TrimPrefix(text, "+"); len(text) > 1 && text[0] == '0' {
		base = 8 // strtoul(3)
	}
	n, err := strconv.ParseUint(text, base, 64)
	return err == nil && n >= least && n <= most
}

func netlinkAddress(_, value string) (int, verdict) {
	family, group, _ := strings.Cut(value, " ")
	const families = "route firewall inet-diag nflog xfrm selinux iscsi audit fib-lookup connector netfilter ip6-fw dnrtmsg kobject-uevent scsitransport ecryptfs rdma"
	return takesOrIgnores(has(strings.Fields(families), family) && (group == "" || isNumber(group, 0, 1<<32-1)), "is no family and group of netlink(7)")
}

func isService(unit, value string) (int, verdict) {
	return takesOrIgnores(strings.HasSuffix(expand(unit, value), ".service"), "is no name of a service")
}

func isUnsigned(_, value string) (int, verdict) {
	return takesOrIgnores(isNumber(value, 0, 1<<32-1), "is no number")
}

func isZeroNumber(value string) bool { return strings.Trim(value, "0") == "" }

func isBusName(unit, value string) (int, verdict) {
	value = expand(unit, value)
	parts := strings.Split(value, ".")
	ok := len(parts) > 1 && len(value) <= 255
	for _, part := range parts {
		ok = ok && part != "" && strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" && (part[0] < '0' || part[0] > '9')
	}
	return takesOrIgnores(ok, "is no name on D-Bus")
}

// assignments parses variables with their values.
func assignments(unit, value string) (count int, v verdict) {
	for rest := value; rest != ""; {
		var w word
		if w, rest, _ = nextWord(rest); w.open {
			return count, ignored("has a quote that is not closed")
		}
		if name, _, ok := strings.Cut(expand(unit, w.text), "="); !ok || !isVariable(name) {
			v = ignored("has a word that is no NAME=value")
			continue
		}
		count = 1
	}
	return count, v
}

// isVariable reports whether a name is a valid variable name (src/basic/env-util.c, env_name_is_valid).
func isVariable(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
