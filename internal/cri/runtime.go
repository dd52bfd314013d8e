package cri

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/grpc"
)

const (
	runtimeService  = "/runtime.v1.RuntimeService/"
	stateMethod     = runtimeService + "Status"
	configMethod    = runtimeService + "RuntimeConfig"
	sandboxesMethod = runtimeService + "ListPodSandbox"
	listMethod      = runtimeService + "ListContainers"
	containerMethod = runtimeService + "ContainerStatus"
)

// maxAnswer limits a list. A container takes about a kilobyte, and a node has some hundred.
const maxAnswer = 4 << 20

// Condition is a condition of the runtime, such as RuntimeReady.
type Condition struct {
	Type            string
	Status          bool
	Reason, Message string
}

// The names of the conditions that a kubelet requires (Kubernetes: cri-api, constants.go).
const (
	RuntimeReady = "RuntimeReady"
	NetworkReady = "NetworkReady"
)

// Sandbox is a pod's sandbox.
type Sandbox struct {
	ID, Name, Namespace string
	Ready               bool
	Created             time.Time
}

// Container is a container of a sandbox.
type Container struct {
	ID, Name, Image string
	Attempt         uint32
	State           ContainerState
}

// ContainerState is a container's state.
type ContainerState uint64

// The states (Kubernetes: cri-api, ContainerState).
const (
	_ ContainerState = iota // created
	Running
	Exited
)

// Ended is how a container has ended.
type Ended struct {
	Code            int32
	Reason, Message string
	At              time.Time
}

// NotServed reports whether an error means that the socket has a server, but no container runtime: containerd's CRI plug-in is disabled, or
// could not be loaded.
func NotServed(err error) bool {
	status, ok := errors.AsType[*grpc.StatusError](err)
	return ok && status.Code == grpc.Unimplemented
}

// Conditions returns the conditions of the runtime at a socket.
func Conditions(ctx context.Context, socket string) ([]Condition, error) {
	answer, err := ask(ctx, socket, stateMethod, nil, maxAnswer)
	if err != nil {
		return nil, err
	}
	return conditions(answer)
}

func conditions(answer []byte) ([]Condition, error) {
	var all []Condition
	err := fields(answer, func(f field) error { // StatusResponse
		if f.number != 1 {
			return nil
		}
		return fields(f.bytes, func(f field) error { // RuntimeStatus
			if f.number != 1 {
				return nil
			}
			var c Condition
			err := fields(f.bytes, func(f field) error { // RuntimeCondition
				switch f.number {
				case 1:
					c.Type = f.text()
				case 2:
					c.Status = f.value != 0
				case 3:
					c.Reason = f.text()
				case 4:
					c.Message = f.text()
				}
				return nil
			})
			all = append(all, c)
			return err
		})
	})
	return all, err
}

// CgroupDriver returns the driver that the runtime at a socket uses, "systemd" or "cgroupfs". It is empty if the runtime is too old to
// report it.
func CgroupDriver(ctx context.Context, socket string) (string, error) {
	answer, err := ask(ctx, socket, configMethod, nil, maxAnswer)
	if NotServed(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return cgroupDriver(answer)
}

func cgroupDriver(answer []byte) (driver string, err error) {
	return driver, fields(answer, func(f field) error { // RuntimeConfigResponse
		if f.number != 1 {
			return nil
		}
		driver = "systemd"                           // 0, which no message has
		return fields(f.bytes, func(f field) error { // LinuxRuntimeConfiguration
			if f.number == 1 && f.value == 1 {
				driver = "cgroupfs"
			}
			return nil
		})
	})
}

// Sandboxes returns all sandboxes of the runtime at a socket.
func Sandboxes(ctx context.Context, socket string) ([]Sandbox, error) {
	answer, err := ask(ctx, socket, sandboxesMethod, nil, maxAnswer)
	if err != nil {
		return nil, err
	}
	return sandboxes(answer)
}

func sandboxes(answer []byte) ([]Sandbox, error) {
	var all []Sandbox
	err := fields(answer, func(f field) error { // ListPodSandboxResponse
		if f.number != 1 {
			return nil
		}
		s := Sandbox{Ready: true} // 0, which no message has
		err := fields(f.bytes, func(f field) error {
			switch f.number {
			case 1:
				s.ID = f.text()
			case 2:
				return fields(f.bytes, func(f field) error { // PodSandboxMetadata
					switch f.number {
					case 1:
						s.Name = f.text()
					case 3:
						s.Namespace = f.text()
					}
					return nil
				})
			case 3:
				s.Ready = f.value == 0
			case 4:
				s.Created = nanoTime(f.value)
			}
			return nil
		})
		all = append(all, s)
		return err
	})
	return all, err
}

// Containers returns the containers of a sandbox, also those that have ended.
func Containers(ctx context.Context, socket, sandbox string) ([]Container, error) {
	filter := appendField(nil, 3, []byte(sandbox)) // ContainerFilter.pod_sandbox_id
	answer, err := ask(ctx, socket, listMethod, appendField(nil, 1, filter), maxAnswer)
	if err != nil {
		return nil, err
	}
	return containers(answer)
}

func containers(answer []byte) ([]Container, error) {
	var all []Container
	err := fields(answer, func(f field) error { // ListContainersResponse
		if f.number != 1 {
			return nil
		}
		var c Container
		err := fields(f.bytes, func(f field) error {
			switch f.number {
			case 1:
				c.ID = f.text()
			case 3:
				return fields(f.bytes, func(f field) error { // ContainerMetadata
					switch f.number {
					case 1:
						c.Name = f.text()
					case 2:
						c.Attempt = uint32(f.value)
					}
					return nil
				})
			case 4:
				return fields(f.bytes, func(f field) error { // ImageSpec
					if f.number == 1 {
						c.Image = f.text()
					}
					return nil
				})
			case 6:
				c.State = ContainerState(f.value)
			}
			return nil
		})
		all = append(all, c)
		return err
	})
	return all, err
}

// End returns how a container has ended. It is zero for one that runs.
func End(ctx context.Context, socket, container string) (Ended, error) {
	answer, err := ask(ctx, socket, containerMethod, appendField(nil, 1, []byte(container)), maxAnswer)
	if err != nil {
		return Ended{}, err
	}
	return end(answer)
}

func end(answer []byte) (e Ended, err error) {
	return e, fields(answer, func(f field) error { // ContainerStatusResponse
		if f.number != 1 {
			return nil
		}
		return fields(f.bytes, func(f field) error { // ContainerStatus
			switch f.number {
			case 6:
				e.At = nanoTime(f.value)
			case 7:
				e.Code = int32(f.value)
			case 10:
				e.Reason = f.text()
			case 11:
				e.Message = f.text()
			}
			return nil
		})
	})
}

// ask makes a call that changes nothing.
func ask(ctx context.Context, socket, method string, message []byte, limit int) ([]byte, error) {
	answer, err := call(ctx, socket, method, message, limit)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", socket, err)
	}
	return answer, nil
}

// nanoTime is a time in nanoseconds since 1970, 0 for none.
func nanoTime(nanoseconds uint64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(nanoseconds)).UTC()
}
