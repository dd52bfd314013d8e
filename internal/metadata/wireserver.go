package metadata

import (
	"context"
	"encoding/xml"
	"net/http"
	"strings"
	"time"
)

// The wire server's paths, from Azure's documentation for a machine without an agent:
// https://learn.microsoft.com/azure/virtual-machines/linux/no-agent
const (
	wireAddress   = "http://168.63.129.16"
	goalStatePath = "/machine/?comp=goalstate"
	healthPath    = "/machine?comp=health"
	wireVersion   = "2012-11-30"
	agentName     = "slipway-node"
	xmlType       = "text/xml; charset=utf-8"
)

// maxDescription limits the description of a failure, in bytes before escaping. It is cloud-init's limit.
const maxDescription = 512

// wirePolicy: 410 means that the goal state was replaced, so that the next one must be read.
var wirePolicy = policy{
	again:  []int{http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests},
	settle: 10 * time.Second,
}

// WireServer is the server to which an Azure machine reports the end of its provisioning. If there is no report after
// some time, Azure considers the provisioning failed.
type WireServer struct{ client *http.Client }

// NewWireServer returns the wire server. dial is for tests, and otherwise nil.
func NewWireServer(dial Dial) *WireServer {
	return &WireServer{newClient(onlyWireServer, dial, 0)}
}

// ReportReady reports that the machine is provisioned. It retries until the server has accepted the report or rejects
// it permanently, or ctx ends. The error is an *Error.
func (w *WireServer) ReportReady(ctx context.Context) error {
	return w.report(ctx, "<State>Ready</State>")
}

// ReportFailure reports that the machine could not be provisioned, and why. It sends 512 bytes of the description.
// Azure shows them to the machine's creator, so it must not hold a secret. It retries like ReportReady.
func (w *WireServer) ReportFailure(ctx context.Context, description string) error {
	return w.report(ctx, "<State>NotReady</State><Details><SubStatus>ProvisioningFailed</SubStatus><Description>"+
		escaped(shortened(description))+"</Description></Details>")
}

// report sends the machine's health. Each try begins with the goal state, because the report must name the present one.
func (w *WireServer) report(ctx context.Context, health string) error {
	_, err := retry(ctx, func(ctx context.Context) (answer, *failure) {
		got, f := w.ask(ctx, http.MethodGet, goalStatePath, "")
		if f != nil {
			return answer{}, f
		}
		goal, ok := parseGoalState(got.body)
		if !ok {
			return answer{}, failed(wireAddress+goalStatePath, WrongType, "the answer is not a goal state")
		}
		return w.ask(ctx, http.MethodPost, healthPath, goal.report(health))
	})
	return err
}

func (w *WireServer) ask(ctx context.Context, method, path, body string) (answer, *failure) {
	header := map[string]string{"x-ms-version": wireVersion, "x-ms-agent-name": agentName}
	if body != "" {
		header["Content-Type"] = xmlType
	}
	return exchange(ctx, w.client, question{
		method: method, url: wireAddress + path, header: header, body: body,
		limit: maxGoalState, refused: []string{htmlType, jsonType}, policy: wirePolicy,
	})
}

// report is the report document for a goal state's machine.
func (g goalState) report(health string) string {
	return xml.Header +
		`<Health xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">` +
		"<GoalStateIncarnation>" + escaped(g.incarnation) + "</GoalStateIncarnation>" +
		"<Container><ContainerId>" + escaped(g.container) + "</ContainerId><RoleInstanceList><Role>" +
		"<InstanceId>" + escaped(g.instance) + "</InstanceId><Health>" + health + "</Health>" +
		"</Role></RoleInstanceList></Container></Health>\n"
}

// shortened is the beginning of a text within the limit, without half a character at its end.
func shortened(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= maxDescription {
		return text
	}
	return strings.ToValidUTF8(text[:maxDescription], "")
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // writing to a builder never fails
	return b.String()
}
