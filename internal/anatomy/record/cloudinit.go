package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cloudInitTimes are the forms of a line's time in cloud-init.log, which is in UTC (cloud-init 18 to 25: log.py,
// logging.Formatter.converter = time.gmtime).
var cloudInitTimes = []string{"2006-01-02 15:04:05,000", "2006-01-02 15:04:05.000", "2006-01-02T15:04:05.000000Z07:00"}

// moduleUnits are the units that run cloud-init's stages. In 24.3 and later, cloud-init.service is cloud-init-network.service.
var moduleUnits = map[string]string{
	"init-local":     "cloud-init-local.service",
	"init-network":   "cloud-init.service",
	"modules-config": "cloud-config.service",
	"modules-final":  "cloud-final.service",
}

// cloudInit is the reader of one cloud-init.log.
type cloudInit struct {
	sink *sink
	open map[string]Moment
	// inside are the names of the open spans, the innermost last.
	inside []string
	uptime float64
}

// parseCloudInit reads cloud-init.log.
func parseCloudInit(s *sink, data []byte) {
	c := &cloudInit{sink: s, open: make(map[string]Moment), uptime: -1}
	s.lines(data, func(number int, line []byte) {
		us, rest, ok := leadingTime(line, cloudInitTimes, " - ")
		if !ok {
			if isCloudInitLine(line) {
				s.unread(number, len(line), "the line has no time")
			}
			return // a line of a traceback
		}
		_, message, found := bytes.Cut(rest, []byte("]: "))
		if !found {
			return
		}
		c.message(Wall(us, 1000), string(message))
	})
	for i, name := range c.inside {
		s.span(c.span(name, c.open[name], c.inside[:i]))
	}
}

// isCloudInitLine reports whether a line looks like the start of a record, whose time is then missing or of an unknown form.
func isCloudInitLine(line []byte) bool { return bytes.Contains(line, []byte(".py[")) }

// leadingTime reads a time in one of several forms at a line's beginning, up to a separator, in microseconds since 1970.
func leadingTime(line []byte, forms []string, separator string) (us int64, rest []byte, ok bool) {
	const longest = 40
	at := bytes.Index(line[:min(len(line), longest+len(separator))], []byte(separator))
	if at < 0 {
		return 0, nil, false
	}
	text := string(line[:at])
	for _, form := range forms {
		if t, err := time.Parse(form, text); err == nil && t.Year() >= 1970 {
			return t.UnixMicro(), line[at+len(separator):], true
		}
	}
	return 0, nil, false
}

func (c *cloudInit) message(at Moment, text string) {
	switch {
	case strings.HasPrefix(text, "start: "):
		name, _, _ := strings.Cut(text[len("start: "):], ": ")
		if len(c.inside) == maxUnread {
			return // no version nests this deep
		}
		c.open[name] = at
		c.inside = append(c.inside, name)
	case strings.HasPrefix(text, "finish: "):
		c.finish(at, text[len("finish: "):])
	case strings.HasPrefix(text, "Cloud-init v. "):
		c.begins(at, text)
	case strings.HasPrefix(text, "Writing to /"):
		path, _, found := strings.Cut(text[len("Writing to "):], " - ")
		if found {
			c.sink.file(File{Path: Clean(path), By: c.writer(), At: at})
		}
	case strings.HasPrefix(text, "Running command ["):
		c.ran(at, text)
	}
}

// writer is the part of cloud-init that is at work.
func (c *cloudInit) writer() string {
	if len(c.inside) == 0 {
		return "cloud-init"
	}
	return "cloud-init " + Clean(c.inside[len(c.inside)-1])
}

// begins reads the line with which a stage begins: "Cloud-init v. 22.4.2 running 'init-local' at Mon, 10 Oct 2022 03:12:30 +0000. Up
// 7.41 seconds." The uptime counts from the kernel's start, so the line has both clocks.
func (c *cloudInit) begins(at Moment, text string) {
	version, _, _ := strings.Cut(text[len("Cloud-init v. "):], " running")
	if _, up, found := strings.Cut(text, ". Up "); found {
		number, _, _ := strings.Cut(up, " ")
		seconds, err := strconv.ParseFloat(number, 64)
		const longestUptime = 1e9
		if err != nil || seconds < 0 || seconds > longestUptime {
			return
		}
		if seconds < c.uptime {
			// The file has another, later boot.
			c.drop()
		}
		c.uptime = seconds
		c.sink.pair(int64(seconds*1e6), at.Us, 20_000) // cloud-init reads the uptime some milliseconds before it writes the line
	}
	if strings.Contains(text, "'init-local'") || c.sink.count == 0 {
		c.sink.fact(CloudInit, "cloud-init %s ran", Clean(version))
	}
}

// drop removes the records of an earlier boot in the same file.
func (c *cloudInit) drop() {
	s := c.sink
	own := func(document string) bool { return document == s.document }
	s.Spans = slices.DeleteFunc(s.Spans, func(x Span) bool { return own(x.Document) })
	s.Events = slices.DeleteFunc(s.Events, func(x Event) bool { return own(x.Document) })
	s.Files = slices.DeleteFunc(s.Files, func(x File) bool { return own(x.Document) })
	s.Runs = slices.DeleteFunc(s.Runs, func(x Run) bool { return own(x.Document) })
	s.Facts = slices.DeleteFunc(s.Facts, func(x Fact) bool { return own(x.Document) })
	s.Pairs = slices.DeleteFunc(s.Pairs, func(x Pair) bool { return own(x.Document) })
	s.others += s.count
	s.count = 0
	c.inside, c.open = nil, make(map[string]Moment)
}

func (c *cloudInit) finish(at Moment, text string) {
	name, result, _ := strings.Cut(text, ": ")
	begin, known := c.open[name]
	if !known {
		return
	}
	delete(c.open, name)
	i := slices.Index(c.inside, name)
	span := c.span(name, begin, c.inside[:i])
	c.inside = slices.Delete(c.inside, i, i+1)
	span.End = at
	if outcome, _, _ := strings.Cut(result, ":"); outcome != "SUCCESS" {
		span.Failed, span.Detail = outcome == "FAIL", Clean(result)
	}
	c.sink.span(span)
}

// span makes the span of a name such as "init-network" or "modules-config/config-ssh". around are the names of the open spans when it
// began: a data source names its own steps without the stage in which it takes them ("azure-ds/_get_data").
func (c *cloudInit) span(name string, begin Moment, around []string) Span {
	stage, module, isModule := strings.Cut(name, "/")
	unit, isStage := moduleUnits[stage]
	span := Span{Stage: CloudInit, Name: Clean(name), Begin: begin, In: unit}
	switch {
	case isStage && isModule && module != "":
		span.In = Clean(stage)
	case !isStage && len(around) > 0:
		span.In = Clean(around[len(around)-1])
	}
	return span
}

// ran records a script that cloud-init ran from cloud-init's directories or from a node's.
func (c *cloudInit) ran(at Moment, text string) {
	list := text[len("Running command ["):]
	for word := range strings.SplitSeq(list, "'") {
		if isScript(word) {
			c.sink.run(Run{Path: Clean(word), By: c.writer(), At: at})
			return
		}
	}
}

// scriptDirectories are where scripts of user data and of node images lie.
var scriptDirectories = []string{"/opt/azure/containers/", "/var/lib/cloud/", "/var/lib/waagent/custom-script/", "/opt/slipway/", "/opt/aks/"}

// isScript reports whether a word is the path of a script of the node's.
func isScript(word string) bool {
	for _, d := range scriptDirectories {
		if strings.HasPrefix(word, d) && len(word) > len(d) {
			return true
		}
	}
	return false
}

// parseCloudInitStatus reads /run/cloud-init/status.json, which has the stages alone.
func parseCloudInitStatus(s *sink, data []byte) {
	var document struct {
		V1 map[string]json.RawMessage `json:"v1"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		s.unread(0, len(data), "not cloud-init's status, or cut: %v", err)
		return
	}
	var datasource string
	if json.Unmarshal(document.V1["datasource"], &datasource) == nil && datasource != "" {
		s.fact(CloudInit, "cloud-init's data source is %s", Clean(datasource))
	}
	for _, stage := range []struct{ key, name string }{
		{"init-local", "init-local"}, {"init", "init-network"}, {"modules-config", "modules-config"}, {"modules-final", "modules-final"},
	} {
		var times struct {
			Start, Finished float64
			Errors          []any
		}
		if raw := document.V1[stage.key]; len(raw) == 0 || json.Unmarshal(raw, &times) != nil || times.Start <= 0 || times.Start > 1e12 {
			continue
		}
		span := Span{Stage: CloudInit, Name: stage.name, In: moduleUnits[stage.name], Begin: Wall(int64(times.Start*1e6), 1000), Failed: len(times.Errors) > 0}
		if times.Finished >= times.Start && times.Finished <= 1e12 {
			span.End = Wall(int64(times.Finished*1e6), 1000)
		}
		s.span(span)
	}
}
