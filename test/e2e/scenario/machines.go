package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// machine is a machine that a provisioner has started, as in package adapters/karpenter.
type machine struct {
	ID, Name, Key, Type, Zone, CapacityType, Image string
	Created                                        time.Time
	Stopping                                       bool
	// Report is the machine's last report of its provisioning.
	Report []byte
}

// launchRequest is what a provisioner starts a machine with, or changes one to.
type launchRequest struct {
	machine
	// UserData is in base64. It is empty in an update that does not change the contract.
	UserData string
}

// machines are the machines of a cloud that a provisioner starts and stops. They are requested over HTTP, and a step of the case
// boots each in the sandbox.
type machines struct {
	mu  sync.Mutex
	all map[string]*machine
	// requested are the launches that no step has taken yet, and updated the updates.
	requested, updated []launchRequest
	// happened are the events of the machines, in order.
	happened timeline
}

// idPrefix is the prefix of the machines' provider IDs.
const idPrefix = "lab:///"

// handler answers a provisioner:
//
//	POST   /machines         start one
//	GET    /machines         all
//	GET    /machines/NAME    one; 404 if it does not exist
//	PUT    /machines/NAME    change its user data
//	DELETE /machines/NAME    stop it
func (m *machines) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /machines", func(w http.ResponseWriter, r *http.Request) {
		var request launchRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		known := m.all[request.Name]
		if known == nil {
			request.ID, request.Created = idPrefix+request.Name, time.Now()
			known = &request.machine
			m.all[request.Name] = known
			m.requested = append(m.requested, request)
			m.happened.add(machineStarted, request.Name)
		}
		answer(w, known)
	})
	mux.HandleFunc("GET /machines", func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		list := make([]*machine, 0, len(m.all))
		for _, one := range m.all {
			list = append(list, one)
		}
		slices.SortFunc(list, func(a, b *machine) int { return a.Created.Compare(b.Created) })
		answer(w, list)
	})
	mux.HandleFunc("GET /machines/{name}", m.one(func(w http.ResponseWriter, _ *http.Request, known *machine) { answer(w, known) }))
	mux.HandleFunc("PUT /machines/{name}", m.one(func(w http.ResponseWriter, r *http.Request, known *machine) {
		var request launchRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		known.Key, request.Name = request.Key, known.Name
		m.updated = append(m.updated, request)
		m.happened.add(machineChanging, known.Name)
	}))
	mux.HandleFunc("DELETE /machines/{name}", m.one(func(_ http.ResponseWriter, _ *http.Request, known *machine) {
		if !known.Stopping {
			m.happened.add(machineStopping, known.Name)
		}
		known.Stopping = true
	}))
	return mux
}

// one handles a request about a machine, under the lock.
func (m *machines) one(do func(http.ResponseWriter, *http.Request, *machine)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		known := m.all[r.PathValue("name")]
		if known == nil {
			http.Error(w, fmt.Sprintf("there is no machine %q", r.PathValue("name")), http.StatusNotFound)
			return
		}
		do(w, r, known)
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a client that has gone needs no answer
}

// take returns the oldest requested launch, and reports whether there is one.
func (m *machines) take() (launchRequest, bool) { return m.first(&m.requested) }

// takeUpdate returns the oldest requested update, and reports whether there is one.
func (m *machines) takeUpdate() (launchRequest, bool) { return m.first(&m.updated) }

func (m *machines) first(of *[]launchRequest) (launchRequest, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(*of) == 0 {
		return launchRequest{}, false
	}
	first := (*of)[0]
	*of = (*of)[1:]
	return first, true
}

// count is the number of machines.
func (m *machines) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all)
}

// stopping reports whether a machine must be stopped.
func (m *machines) stopping(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[name] != nil && m.all[name].Stopping
}

// gone forgets a machine.
func (m *machines) gone(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, name)
	m.happened.add(machineGone, name)
}

// reported keeps a machine's report.
func (m *machines) reported(name string, report []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.all[name]; known != nil {
		known.Report = report
		m.happened.add(machineReported, name)
	}
}
