package integrity

import "strings"

// dropInNames are the directories, by their last names, that systemd takes a unit's drop-ins from (systemd.unit(5)): its
// own, those of its template, and those of each prefix that ends in a dash. shared is that of all units of its type.
func dropInNames(unit string) (own []string, shared string) {
	dot := strings.LastIndexByte(unit, '.')
	if dot < 0 {
		return nil, "" // no name of a unit
	}
	name, suffix := unit[:dot], unit[dot:]
	prefix, instance, templated := strings.Cut(name, "@")
	for {
		if templated {
			own = append(own, prefix+"@"+instance+suffix+".d")
		}
		switch {
		case !templated:
			own = append(own, prefix+suffix+".d")
		case instance != "":
			own = append(own, prefix+"@"+suffix+".d")
		}
		dash := strings.LastIndexByte(strings.TrimRight(prefix, "-"), '-')
		if dash < 1 {
			return own, suffix[1:] + ".d"
		}
		prefix = prefix[:dash+1]
	}
}
