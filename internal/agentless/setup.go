package agentless

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// setupName is the unit that runs the commands, at each boot and before everything that the plan starts.
	setupName = "slipway-setup.service"
	setupPath = resource.UnitDir + "/" + setupName
	// kubeletDropIn has the kubelet wait for it: what a command was to make safe is not left out in silence.
	kubeletDropIn = resource.UnitDir + "/" + kubeletUnit + ".d/05-slipway.conf"
	kubeletUnit   = "kubelet.service"
	// setupPatience is how long the unit may take, beside its commands' own limits.
	setupPatience = time.Minute
)

// command is a program that the unit runs.
type command struct {
	argv     []string
	env      map[string]string
	timeout  time.Duration
	optional bool
}

// setupUnit adds the unit and what starts it.
func (b *builder) setupUnit() {
	before, patience := slices.Concat(b.Started, b.Restarted), setupPatience
	slices.Sort(before)
	lines := []string{
		"[Unit]",
		"Description=Apply what files alone do not: kernel settings, modules, commands",
		"# It does not wait for the rest of the boot, of which cloud-init can be a part.",
		"DefaultDependencies=no",
		"After=local-fs.target systemd-modules-load.service systemd-sysctl.service systemd-tmpfiles-setup.service",
		"Before=" + strings.Join(slices.Compact(before), " "),
		"Conflicts=shutdown.target",
		"Before=shutdown.target",
		"",
		"[Service]",
		"Type=oneshot",
		"RemainAfterExit=yes",
		"",
	}
	start := len(lines) - 1
	for _, c := range b.setup {
		patience += c.timeout
		lines = append(lines, c.line())
	}
	lines[start] = fmt.Sprintf("TimeoutStartSec=%d", int(patience.Seconds()))
	lines = append(lines, "", "[Install]", "WantedBy=multi-user.target")
	b.addFile(setupPath, lines)
	b.Links = append(b.Links, &resource.Symlink{Path: resource.UnitDir + "/multi-user.target.wants/" + setupName, Target: setupPath})
	starts := slices.Contains(b.Started, kubeletUnit)
	if !starts && len(b.once) == 0 {
		return
	}
	after := setupName
	if starts && len(b.once) > 0 { // else one of them starts the kubelet, and would wait for itself
		after += " " + onceName
	}
	kubelet := []string{"[Unit]", "Requires=" + after}
	if b.network {
		after += " network-online.target"
		kubelet = append(kubelet, "Wants=network-online.target")
	}
	b.addFile(kubeletDropIn, append(kubelet, "After="+after))
}

func (b *builder) addFile(path string, lines []string) {
	b.Files = append(b.Files, &resource.File{Path: path, Mode: 0o644, Content: []byte(strings.Join(lines, "\n") + "\n")})
}

// line is the command as systemd reads it (systemd.service(5), "Command lines").
func (c command) line() string {
	argv := c.argv
	if len(c.env) > 0 {
		argv = []string{"env"}
		for _, name := range slices.Sorted(maps.Keys(c.env)) {
			argv = append(argv, name+"="+c.env[name])
		}
		argv = append(argv, c.argv...)
	}
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = execWord(arg)
	}
	prefix := ""
	if c.optional {
		prefix = "-"
	}
	return "ExecStart=" + prefix + strings.Join(words, " ")
}

// execEscapes take the meaning of specifiers, variables, quotes and line breaks away.
var execEscapes = strings.NewReplacer("%", "%%", "$", "$$", `\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

// execWord makes a text one word of a command line of systemd.
func execWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-=,:+@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return `"` + execEscapes.Replace(s) + `"`
}
