package containerdapi

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Finding is a part of a configuration that the releases do not read, or that they do not start with.
type Finding struct {
	Kind nodeconfig.ProblemKind
	// Reason describes the problem. It contains no value, and no key that a user made up.
	Reason string
	// Fatal is set if containerd, or its CRI plug-in, does not start with it.
	Fatal bool
}

// Check returns what the releases do not read in a configuration from [Releases.Translate]. [Releases.CheckOptions] checks the options
// of a runtime. A plug-in that a contract's own proxy provides counts as known.
func (r Releases) Check(doc *toml.Table) []Finding {
	c := &checker{releases: r, loss: "it does not start with it"}
	c.table("", "", doc)
	c.lists(doc)
	plugins, ok := doc.Get("plugins").(*toml.Table)
	if !ok {
		return c.found
	}
	external := proxies(doc)
	for name, settings := range plugins.All() {
		table, isTable := settings.(*toml.Table)
		switch {
		case !isTable:
			c.add(true, nodeconfig.Invalid, "has a value at plugins"+shown(name)+", where containerd takes a table: it does not start with it")
		case slices.Contains(external, name):
		case !r.HasPlugin(name) && !isMoved(name):
			c.unknownPlugin("has plugins"+shown(name)+", which", name)
		default:
			c.table(name, "", table)
		}
	}
	return c.found
}

// isMoved reports whether a plug-in's keys have moved to other plug-ins. The releases then have none of the remaining keys.
func isMoved(name string) bool {
	return slices.ContainsFunc(moved, func(places []place) bool { return slices.Contains(places, place{name, ""}) })
}

// CheckOptions returns what runc's shim does not read in the options of a runtime, in a configuration for containerd.
func (r Releases) CheckOptions(options *toml.Table) []Finding {
	c := &checker{releases: r, loss: "no pod of the runtime starts with it"}
	c.table(runcOptions, "", options)
	return c.found
}

// runcOptions is the table's name for the options of runc's shim (api/types/runc/options).
const runcOptions = "options io.containerd.runc.v2"

// proxyTypes are the types of plug-ins that other programs provide, by what a configuration calls them (containerd:
// cmd/containerd/server/server.go, LoadPlugins).
var proxyTypes = map[string]string{
	"snapshot": "io.containerd.snapshotter.v1",
	"content":  "io.containerd.content.v1",
	"diff":     "io.containerd.differ.v1",
	"sandbox":  "io.containerd.sandbox.controller.v1",
}

// proxies are the plug-ins that other programs provide.
func proxies(doc *toml.Table) (names []string) {
	all, _ := doc.Get("proxy_plugins").(*toml.Table)
	if all == nil {
		return nil
	}
	for name, settings := range all.All() {
		table, _ := settings.(*toml.Table)
		if table == nil {
			continue
		}
		kind, _ := table.Get("type").(string)
		if short, ok := proxyTypes[kind]; ok {
			kind = short
		}
		names = append(names, kind+"."+name)
	}
	return names
}

// HasSnapshotter reports whether containerd, or a proxy of the configuration, has a snapshotter.
func (r Releases) HasSnapshotter(doc *toml.Table, name string) bool {
	name = proxyTypes["snapshot"] + "." + name
	return r.HasPlugin(name) || slices.Contains(proxies(doc), name)
}

type checker struct {
	releases Releases
	// loss is the effect of a value of the wrong kind.
	loss  string
	found []Finding
}

func (c *checker) add(fatal bool, kind nodeconfig.ProblemKind, reason string) {
	if f := (Finding{kind, reason, fatal}); !slices.Contains(c.found, f) {
		c.found = append(c.found, f)
	}
}

// lists checks the names of plug-ins that are disabled or required. containerd does not start with an incomplete name, or with
// a required plug-in that it does not have (containerd 1.7: services/server/config/config.go, ValidateV2; 2.4:
// cmd/containerd/server/config/config.go, ValidateVersion, and cmd/containerd/server/server.go, New).
func (c *checker) lists(doc *toml.Table) {
	external := proxies(doc)
	for _, list := range []string{"disabled_plugins", "required_plugins"} {
		names, _ := doc.Get(list).([]any)
		for _, name := range names {
			text, isText := name.(string)
			switch {
			case !isText: // the kind of the list is checked elsewhere
			case !strings.Contains(text, ".") || c.releases.first == 0 && !whole(text):
				c.add(true, nodeconfig.Invalid, "has a name in "+list+" that is not the whole name of a plug-in, such as io.containerd.snapshotter.v1.zfs: containerd does not start with it")
			case c.releases.HasPlugin(text) || slices.Contains(external, text):
			case list == "required_plugins":
				c.add(true, nodeconfig.Invalid, "requires a plug-in in "+list+" that "+c.releases.String()+" does not have: containerd does not start with it")
			default:
				c.unknownPlugin("disables a plug-in in "+list+": "+shownName(text)+", which", text)
			}
		}
	}
}

// whole reports whether a text is a plug-in's whole name, as containerd 1.7 takes it.
func whole(name string) bool {
	return strings.HasPrefix(name, "io.containerd.") && strings.Count(name, ".") >= 3
}

func (c *checker) unknownPlugin(what, name string) {
	if c.releases.first == 0 && !whole(name) {
		c.add(true, nodeconfig.Invalid, what+" is not the whole name of a plug-in: containerd 1 does not start with it")
		return
	}
	reason := what + " is no plug-in of " + c.releases.String()
	if of := since(name, ""); of != "" {
		c.add(false, nodeconfig.Unknown, reason+", but of "+of+": it has no effect")
		return
	}
	var names []string
	for _, id := range slices.Sorted(maps.Keys(known().plugins)) {
		if p := known().plugins[id]; id != "" && p.meets(c.releases.span) && !strings.Contains(id, " ") {
			names = append(names, id)
		}
	}
	c.add(false, nodeconfig.Unknown, reason+": it has no effect"+document.Likeliest(name, names))
}

// table checks the keys of a table. Pattern is its path, with "*" for the names that users give.
func (c *checker) table(name, pattern string, table *toml.Table) {
	in := known().plugins[name]
	below := in.below[pattern]
	for k, value := range table.All() {
		key := k
		if slices.Contains(below, "*") {
			key = "*"
		} else if i := slices.IndexFunc(below, func(n string) bool { return strings.EqualFold(n, k) }); i >= 0 && !slices.Contains(below, k) {
			key = below[i]
		}
		path := strings.TrimPrefix(pattern+"."+key, ".")
		kinds := c.releases.kinds(name, path)
		if len(kinds) == 0 {
			c.unknownKey(name, pattern, k)
			continue
		}
		c.value(name, path, kinds, value)
	}
}

func (c *checker) value(name, path string, kinds []string, value any) {
	if !takesAny(kinds, value) {
		c.add(true, nodeconfig.Invalid, "has "+kindOf(value)+" at "+place{name, path}.shown()+", where "+c.releases.String()+" takes "+inWords(kinds[0])+": "+c.loss)
		return
	}
	if text, ok := value.(string); ok {
		for i := range rules {
			if rule := &rules[i]; rule.path == path && slices.Contains(rule.plugins, name) && !rule.good(text) {
				c.add(true, nodeconfig.Invalid, "has a value at "+place{name, path}.shown()+" that is not "+rule.what+": "+rule.loss+" does not start with it")
			}
		}
	}
	if name == "" && path == "plugins" {
		return // each has its own keys
	}
	switch v := value.(type) {
	case *toml.Table:
		if !slices.Contains(kinds, "x") {
			c.table(name, path, v)
		}
	case []any:
		for _, item := range v {
			if below, ok := item.(*toml.Table); ok && slices.Contains(kinds, "[]{}") {
				c.table(name, path+".*", below)
			}
		}
	}
}

// unknownKey reports a key that the releases do not have.
func (c *checker) unknownKey(name, pattern, key string) {
	in := known().plugins[name]
	at := place{name, strings.TrimPrefix(pattern+"."+key, ".")}
	reason := "has " + place{name, pattern}.with(key) + ", which " + c.releases.String() + " does not know: it has no effect"
	if of := since(name, at.path); of != "" {
		c.add(false, nodeconfig.Unknown, reason+"; it is a setting of containerd "+of)
		return
	}
	var now, ever []string
	for _, other := range in.below[pattern] {
		path := strings.TrimPrefix(pattern+"."+other, ".")
		if ever = append(ever, other); c.releases.has(name, path) {
			now = append(now, other)
		}
	}
	c.add(false, nodeconfig.Unknown, reason+cmp.Or(document.Likeliest(key, now), document.Likeliest(key, ever)))
}

// isName is what a reason repeats: the name of a setting or plug-in. What else a text has as a key may be no name but a secret.
var isName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`).MatchString

func shownName(name string) string {
	if isName(name) {
		return name
	}
	return "a name"
}

// shown is a plug-in's key behind "plugins".
func shown(plugin string) string {
	if isName(plugin) {
		return "." + strconv.Quote(plugin)
	}
	return ".*"
}

// shown is a place for people.
func (p place) shown() string {
	if p.plugin == runcOptions {
		return "options." + p.path
	}
	text := p.path
	if p.plugin != "" {
		text = strings.TrimSuffix("plugins"+shown(p.plugin)+"."+p.path, ".")
	}
	return text
}

// with is a key of a table, for people.
func (p place) with(key string) string {
	if !isName(key) {
		key = "*"
	}
	return strings.TrimPrefix(strings.TrimSuffix(p.shown(), ".")+"."+key, ".")
}

// takes reports whether containerd's decoder takes a value for a kind (github.com/pelletier/go-toml/v2).
func takes(kind string, value any) bool {
	if of, isList := strings.CutPrefix(kind, "[]"); isList {
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(item any) bool { return !takes(of, item) })
	}
	switch v := value.(type) {
	case string:
		_, err := time.ParseDuration(v)
		return kind == "s" || kind == "x" || kind == "d" && err == nil
	case bool:
		return kind == "b" || kind == "x"
	case int64:
		return kind == "i" || kind == "x" || kind == "d" || kind == "f" || kind == "u" && v >= 0 && v < 1<<32
	case float64:
		return kind == "f" || kind == "x"
	case *toml.Table:
		return kind == "{}" || kind == "x"
	}
	return kind == "x"
}

func takesAny(kinds []string, value any) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return takes(kind, value) })
}

func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case *toml.Table:
		return "a table"
	}
	return "a list"
}

var words = map[string]string{"s": "a text", "b": "true or false", "i": "a whole number", "u": "a whole number from 0", "f": "a number", "d": "a duration such as 10s", "{}": "a table", "x": "any value"}

func inWords(kind string) string {
	if of, isList := strings.CutPrefix(kind, "[]"); isList {
		return "a list, each item " + inWords(of)
	}
	return words[kind]
}

// rule is what containerd wants of a text.
type rule struct {
	plugins []string
	path    string
	good    func(string) bool
	what    string
	// loss is what does not start.
	loss string
}

// rules are containerd's (internal/cri/config/config.go, ValidateImageConfig, ValidateRuntimeConfig and ValidateServerConfig; 1.7:
// pkg/cri/config/config.go, ValidatePluginConfig; timeouts: cmd/containerd/server/server.go, New).
var rules = []rule{
	{[]string{""}, "timeouts.*", isDuration, "a duration such as 10s", "containerd"},
	{[]string{CRI1}, "stream_idle_timeout", emptyOrDuration, "a duration such as 4h", "containerd's CRI plug-in"},
	{[]string{CRI1, Images}, "image_pull_progress_timeout", emptyOrDuration, "a duration such as 5m", "containerd's CRI plug-in"},
	{[]string{CRI1, Runtime}, "drain_exec_sync_io_timeout", emptyOrDuration, "a duration such as 10s", "containerd's CRI plug-in"},
	{[]string{Runtime}, "stats_collect_period", emptyOrDuration, "a duration such as 1s", "containerd's CRI plug-in"},
	{[]string{Runtime}, "stats_retention_period", emptyOrDuration, "a duration such as 2m", "containerd's CRI plug-in"},
	{[]string{Runtime}, "containerd.runtimes.*.io_type", isStreamKind, "fifo or streaming", "containerd's CRI plug-in"},
}

func isDuration(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil
}

func emptyOrDuration(text string) bool { return text == "" || isDuration(text) }

func isStreamKind(text string) bool { return slices.Contains([]string{"", "fifo", "streaming"}, text) }
