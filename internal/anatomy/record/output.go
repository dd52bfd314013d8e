package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// maxTraced limits the scripts that one trace names.
const maxTraced = 200

// parseCloudInitOutput reads what the scripts of user data printed.
func parseCloudInitOutput(s *sink, data []byte) { s.trace(data, "a script of cloud-init's") }

// parseOutput reads the output of the custom script extension. New AKS nodes print the result there, older ones the trace of a shell.
func parseOutput(s *sink, data []byte) {
	if trimmed := bytes.TrimSpace(data); bytes.HasPrefix(trimmed, []byte("{")) && json.Valid(trimmed) {
		parseProvision(s, trimmed)
		return
	}
	s.trace(data, "the extension's command")
}

// trace reads the trace of a shell (bash(1), xtrace): the scripts that it reads in or starts, and lines with a time. by is the
// program that ran the shell.
func (s *sink) trace(data []byte, by string) {
	seen := make(map[string]bool)
	s.lines(data, func(_ int, line []byte) {
		text := string(line)
		command := strings.TrimLeft(text, "+")
		if len(command) == len(text) || !strings.HasPrefix(command, " ") {
			s.marked(text)
			return
		}
		s.count++
		for word := range strings.FieldsSeq(command) {
			word = strings.Trim(word, `'";`)
			if isScript(word) && !seen[word] && len(seen) < maxTraced && runs(command, word) {
				seen[word] = true
				s.Runs = append(s.Runs, Run{Path: Clean(word), By: by, Document: s.document})
			}
		}
	})
}

// runs reports whether a traced command reads in a script or starts it, and does not merely name its file.
func runs(command, script string) bool {
	fields := strings.Fields(command)
	switch fields[0] {
	case ".", "source", "bash", "/bin/bash", "/usr/bin/bash", "sh", "timeout", "nohup", "exec", "/usr/bin/nohup":
		return true
	}
	return strings.Trim(fields[0], `'";`) == script
}

// dateForms are the forms in which date(1) prints a time with English names. Other languages have other forms, and no time is read.
var dateForms = []string{"Mon Jan _2 15:04:05 MST 2006", "Mon Jan _2 03:04:05 PM MST 2006", "Mon _2 Jan 2006 03:04:05 PM MST"}

// scriptMarks are the words with which AKS's scripts mark their start and end, after the time and the machine's name
// ("Mon Oct 10 03:13:07 UTC 2022,aks-np2-39451173-vmss000000,startcustomscript").
var scriptMarks = map[string]string{"startcustomscript": "provisioning script starts", "endcustomscript": "provisioning script ends"}

func (s *sink) marked(text string) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 || scriptMarks[strings.TrimSpace(parts[2])] == "" {
		return
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, strings.TrimSpace(parts[0])); err == nil && t.Year() >= 1970 {
			s.event(Event{Stage: Extension, Name: scriptMarks[strings.TrimSpace(parts[2])], At: Wall(t.UnixMicro(), 1e6), Detail: "as " + Clean(parts[1]) + " printed"})
			return
		}
	}
}
