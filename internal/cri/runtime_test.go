package cri

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a message of fields, which are numbers, texts and messages, by the fields' numbers in turn.
func message(fields ...any) []byte {
	var m []byte
	for i := 0; i < len(fields); i += 2 {
		number := protowire.Number(fields[i].(int))
		switch value := fields[i+1].(type) {
		case int:
			m = protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), uint64(value))
		case string:
			m = protowire.AppendString(protowire.AppendTag(m, number, protowire.BytesType), value)
		case []byte:
			m = protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), value)
		}
	}
	return m
}

// answers is a runtime with an answer for each method. It does not have the others.
type answers map[string][]byte

func (a answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	answer, has := a[r.URL.Path]
	if has {
		w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(answer))), answer...))
	}
	w.Header().Set("Grpc-Status", map[bool]string{true: "0", false: "12"}[has])
	w.Header().Set("Grpc-Message", "unknown service")
}

var (
	runtimeStatus = message(1, message(
		1, message(1, RuntimeReady, 2, 1),
		1, message(1, NetworkReady, 3, "NetworkPluginNotReady", 4, "cni plugin not initialized")),
		2, message(1, "config", 2, "{}"))
	sandboxList = message(
		1, message(1, "s1", 2, message(1, "azure-cns-x", 2, "uid", 3, "kube-system", 4, 1), 4, 5, 5, message(1, "k", 2, "v"), 7, ""),
		1, message(1, "s2", 2, message(1, "old", 3, "default"), 3, 1))
	containerList = message(
		1, message(1, "c1", 2, "s1", 3, message(1, "cns", 2, 4), 4, message(1, "registry/cns:1"), 5, "sha256:1", 6, 2),
		1, message(1, "c2", 3, message(1, "init")))
	containerStatus = message(1, message(1, "c1", 6, 7, 7, 137, 10, "OOMKilled", 11, "killed"), 2, message(1, "info", 2, "{}"))
)

func TestRuntime(t *testing.T) {
	many := make([]byte, 0, 1<<20)
	for i := range 2000 { // more than an answer usually has
		many = append(many, message(1, message(1, fmt.Sprint(i), 5, strings.Repeat("x", 300)))...)
	}
	socket := serve(t, answers{
		stateMethod: runtimeStatus, configMethod: message(1, message(1, 1)), sandboxesMethod: many,
		listMethod: containerList, containerMethod: containerStatus,
	})
	conditions, err := Conditions(t.Context(), socket)
	if want := []Condition{{RuntimeReady, true, "", ""}, {NetworkReady, false, "NetworkPluginNotReady", "cni plugin not initialized"}}; err != nil || !slices.Equal(conditions, want) {
		t.Errorf("conditions: %v, %v", conditions, err)
	}
	if driver, err := CgroupDriver(t.Context(), socket); driver != "cgroupfs" || err != nil {
		t.Errorf("driver: %q, %v", driver, err)
	}
	if sandboxes, err := Sandboxes(t.Context(), socket); len(sandboxes) != 2000 || err != nil {
		t.Errorf("%d sandboxes, %v", len(sandboxes), err)
	}
	containers, err := Containers(t.Context(), socket, "s1")
	if want := []Container{{"c1", "cns", "registry/cns:1", 4, Exited}, {"c2", "init", "", 0, 0}}; err != nil || !slices.Equal(containers, want) {
		t.Errorf("containers: %v, %v", containers, err)
	}
	end, err := End(t.Context(), socket, "c1")
	if want := (Ended{137, "OOMKilled", "killed", time.Unix(0, 7).UTC()}); err != nil || end != want {
		t.Errorf("end: %v, %v", end, err)
	}
	list, err := sandboxes(sandboxList)
	if want := []Sandbox{{"s1", "azure-cns-x", "kube-system", true, time.Unix(0, 5).UTC()}, {"s2", "old", "default", false, time.Time{}}}; err != nil || !slices.Equal(list, want) {
		t.Errorf("sandboxes: %v, %v", list, err)
	}
	if driver, err := cgroupDriver(message(1, "")); driver != "systemd" || err != nil {
		t.Errorf("driver: %q, %v", driver, err)
	}
}

// An old runtime has no method for its driver; containerd without its CRI plug-in has no method at all.
func TestRuntimeThatIsNone(t *testing.T) {
	socket := serve(t, answers{})
	if driver, err := CgroupDriver(t.Context(), socket); driver != "" || err != nil {
		t.Errorf("driver: %q, %v", driver, err)
	}
	if _, err := Conditions(t.Context(), socket); !NotServed(err) || !strings.Contains(err.Error(), socket) {
		t.Errorf("conditions: %v", err)
	}
	if _, err := Conditions(t.Context(), socket+"x"); err == nil || NotServed(err) {
		t.Errorf("no socket: %v", err)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, answer := range [][]byte{runtimeStatus, sandboxList, containerList, containerStatus, {0x0d, 1, 2, 3, 4}, {0x09, 1}} {
		f.Add(answer)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		conditions(answer)
		cgroupDriver(answer)
		sandboxes(answer)
		containers(answer)
		end(answer)
		want := true
		for rest := answer; len(rest) > 0; { // the library's reading, but for groups, which no message of the CRI has
			number, kind, n := protowire.ConsumeTag(rest)
			if n < 0 || kind == protowire.StartGroupType {
				want = false
				break
			}
			m := protowire.ConsumeFieldValue(number, kind, rest[n:])
			if m < 0 {
				want = false
				break
			}
			rest = rest[n+m:]
		}
		if err := fields(answer, func(field) error { return nil }); err != nil && want {
			t.Errorf("%x is a message: %v", answer, err)
		}
	})
}
