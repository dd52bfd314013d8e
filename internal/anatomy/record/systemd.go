package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// properties are an object's properties in systemd: numbers in decimal, lists with blanks between. Times are microseconds.
type properties map[string]string

func (p properties) us(name string) int64 { return number([]byte(p[name])) }

// moment is a property's time on the monotonic clock.
func (p properties) moment(name string) Moment {
	if us := p.us(name + "TimestampMonotonic"); us > 0 {
		return Monotonic(us)
	}
	return Moment{}
}

// stageSpans are parts of the boot, by systemd's own times (org.freedesktop.systemd1(5)). An empty begin is the kernel's start.
// The first of the properties in ends that is set is the span's end.
var stageSpans = []struct {
	stage       Stage
	name, begin string
	ends        []string
}{
	{Kernel, "kernel", "", []string{"InitRD", "Userspace"}},
	{InitRD, "initrd", "InitRD", []string{"Userspace"}},
	{Systemd, "systemd", "Userspace", []string{"UnitsLoadFinish"}},
	{Systemd, "security modules", "SecurityStart", []string{"SecurityFinish"}},
	{Systemd, "generators", "GeneratorsStart", []string{"GeneratorsFinish"}},
	{Systemd, "unit loading", "UnitsLoadStart", []string{"UnitsLoadFinish"}},
}

// unitEvents are events, by the unit and the property with the time.
var unitEvents = []struct {
	stage                 Stage
	event, unit, property string
}{
	{Slipway, "agent exec", "slipway-provision.service", "ExecMainStart"},
	{GuestAgent, "guest agent exec", "walinuxagent.service", "ExecMainStart"},
	{GuestAgent, "guest agent exec", "waagent.service", "ExecMainStart"},
	{Containerd, "containerd exec", "containerd.service", "ExecMainStart"},
	{Kubelet, "kubelet exec", "kubelet.service", "ExecMainStart"},
	{Systemd, "local file systems", "local-fs.target", "ActiveEnter"},
	{Systemd, "network online", "network-online.target", "ActiveEnter"},
}

// manager reads the properties of systemd itself.
func (s *sink) manager(p properties) {
	if firmware, loader := p.us("FirmwareTimestampMonotonic"), p.us("LoaderTimestampMonotonic"); loader > 0 {
		if firmware > loader {
			s.span(Span{Stage: Firmware, Name: "firmware", Begin: Monotonic(-firmware), End: Monotonic(-loader)})
		}
		s.span(Span{Stage: Loader, Name: "boot loader", Begin: Monotonic(-loader), End: Monotonic(0)})
	}
	for _, stage := range stageSpans {
		span := Span{Stage: stage.stage, Name: stage.name, Begin: Monotonic(0)}
		if stage.begin != "" {
			span.Begin = p.moment(stage.begin)
		}
		for _, end := range stage.ends {
			if span.End.IsZero() {
				span.End = p.moment(end)
			}
		}
		if stage.stage == Systemd && stage.name != "systemd" {
			span.In = "systemd"
		}
		if !span.Begin.IsZero() && !span.End.IsZero() && span.Begin.Us <= span.End.Us {
			s.span(span)
		}
	}
	if finish := p.moment("Finish"); !finish.IsZero() {
		s.event(Event{Stage: Systemd, Name: "boot finished", At: finish})
	}
	for _, name := range []string{"InitRD", "Userspace", "Finish"} {
		s.stamped(p, name)
	}
}

// stamped records a property that has its time on both clocks.
func (s *sink) stamped(p properties, name string) {
	if m, w := p.us(name+"TimestampMonotonic"), p.us(name+"Timestamp"); m > 0 && w > 0 {
		s.pair(m, w, 1)
	}
}

// unit reads the properties of a unit. A unit that has never started has no span.
func (s *sink) unit(p properties) {
	span := Span{Stage: UnitStage, Name: Clean(p["Id"]), Begin: p.moment("InactiveExit"), End: p.moment("ActiveEnter")}
	if span.Name == "" || span.Begin.IsZero() {
		return
	}
	if span.End.Us < span.Begin.Us {
		// A oneshot service ends without having been active; another unit is still starting.
		span.End = p.moment("InactiveEnter")
		if span.End.Us < span.Begin.Us {
			span.End = Moment{}
		}
	}
	if result := p["Result"]; p["ActiveState"] == "failed" || result != "" && result != "success" {
		span.Failed, span.Detail = true, Clean("result "+result)
	}
	for _, other := range strings.Fields(p["After"]) {
		span.After = append(span.After, Clean(other))
	}
	slices.Sort(span.After)
	s.span(span)
	s.stamped(p, "InactiveExit")
	s.stamped(p, "ActiveEnter")
	for _, e := range unitEvents {
		if at := p.moment(e.property); e.unit == span.Name && !at.IsZero() {
			s.event(Event{Stage: e.stage, Name: e.event, At: at})
		}
	}
}

// isUnits reports whether a document is the one of the units in JSON.
func isUnits(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"UserspaceTimestampMonotonic"`))
}

// parseUnits reads systemd's properties in JSON:
//
//	{"bootID": "...", "manager": {"KernelTimestamp": 1, ...}, "units": [{"Id": "a.service", "After": ["b.service"], ...}, ...]}
//
// The names are those of D-Bus. Units may also be an object, by the unit's name.
func parseUnits(s *sink, data []byte) {
	var document struct {
		BootID   string
		Hostname string
		Manager  map[string]any
		Units    json.RawMessage
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&document); err != nil {
		s.unread(0, len(data), "not the JSON of systemd's units, or cut: %v", err)
		return
	}
	s.Boot = plainID(document.BootID)
	if s.Host == "" {
		s.Host = Clean(document.Hostname)
	}
	s.manager(flat(document.Manager))
	units, err := unitList(document.Units)
	if err != nil {
		s.unread(0, len(document.Units), "the list of units: %v", err)
	}
	for i, unit := range units {
		if i == maxRecords {
			s.unread(0, 0, "there are more than %d units", maxRecords)
			break
		}
		s.unit(flat(unit))
	}
}

// unitList decodes a list of units, or an object of units by name.
func unitList(data json.RawMessage) ([]map[string]any, error) {
	var list []map[string]any
	if len(data) == 0 || bytes.HasPrefix(data, []byte("[")) || bytes.Equal(data, []byte("null")) {
		if len(data) == 0 {
			return nil, nil
		}
		return list, decodeNumbers(data, &list)
	}
	var named map[string]map[string]any
	if err := decodeNumbers(data, &named); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		unit := named[name]
		if unit == nil {
			continue
		}
		if _, has := unit["Id"]; !has {
			unit["Id"] = name
		}
		list = append(list, unit)
	}
	return list, nil
}

// decodeNumbers decodes JSON, and keeps the digits of its numbers.
func decodeNumbers(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(to)
}

// flat converts decoded properties to texts.
func flat(object map[string]any) properties {
	p := make(properties, len(object))
	for name, value := range object {
		switch value := value.(type) {
		case string:
			p[name] = value
		case json.Number:
			p[name] = value.String()
		case []any:
			var words []string
			for _, v := range value {
				words = append(words, fmt.Sprint(v))
			}
			p[name] = strings.Join(words, " ")
		}
	}
	return p
}

// isShow reports whether a document is the output of systemctl show.
func isShow(head []byte) bool {
	return bytes.Contains(head, []byte("\nInactiveExitTimestampMonotonic=")) || bytes.Contains(head, []byte("\nUserspaceTimestampMonotonic="))
}

// parseShow reads the output of "systemctl show" and of "systemctl show '*'": a property in each line, and an empty line between
// two objects. The object without an Id is systemd itself. Texts of times depend on the language and are not read.
func parseShow(s *sink, data []byte) {
	p := properties{}
	end := func() {
		switch {
		case p["Id"] != "":
			s.unit(p)
		case len(p) > 0:
			s.manager(p)
		}
		p = properties{}
	}
	for number, line := 0, []byte(nil); len(data) > 0; {
		line, data, _ = bytes.Cut(data, []byte("\n"))
		if number++; len(line) == 0 || len(line) == 1 && line[0] == '\r' {
			end()
			continue
		}
		name, value, found := bytes.Cut(bytes.TrimSuffix(line, []byte("\r")), []byte("="))
		if !found || len(line) > maxLine {
			s.unread(number, len(line), "not a property of systemd's")
			continue
		}
		p[string(name)] = string(value)
	}
	end()
}
